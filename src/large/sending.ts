// Responses on their way to clients: their bytes are bounded, for each account and in total, however slowly clients
// read.
import { getHeapStatistics } from "node:v8";
import type { DescMethod } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import type { Tally } from "../tally.ts";
import { rejectLarge, requireOpen } from "./places.ts";

/** Smaller responses are not counted. */
export const countedBytes = 65_536;
/** How many bytes are sent at a time: a sixteenth of the heap, as a response takes up to twice its bytes. */
export const mostBytes = within(16_000_000, getHeapStatistics().heap_size_limit / 16, 128_000_000);
/** To one account. */
export const mostBytesOfAccount = within(4_000_000, mostBytes / 4, 16_000_000);

const sizes = new WeakMap<object, number>();
let sending = 0;
const byAccount = new Map<string, number>();

/** Announces a response and counts its bytes until its request has ended. */
export type TakeRoom = (response: object, tally: Tally | undefined, bytes: number) => void;

/**
 * How the responses of an rpc take room: those to reads by `requireRoom`, those to writes by `countSent`. What a write
 * has done is reported, however much its account is sent.
 */
export function roomFor({ idempotency }: DescMethod): TakeRoom {
  return idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS ? requireRoom : countSent;
}

/** Notes the size of a response before it is sent: a client has more time for a larger one. */
export function announce(response: object, bytes: number): void {
  if (bytes >= countedBytes) sizes.set(response, bytes);
}

/** The size of a response that was announced. */
export function announcedSize(response: object): number | undefined {
  return sizes.get(response);
}

/**
 * Announces a response, and counts its bytes until its request has ended. Fails with UNAVAILABLE where the account or
 * the instance is sending too many already, and with CANCELLED where the request has ended. A response that has a place
 * for huge ones is bounded by that, and the requests of the services inside are not bounded.
 */
export function requireRoom(response: object, tally: Tally | undefined, bytes: number): void {
  announce(response, bytes);
  if (bytes < countedBytes || tally?.onEnd === undefined || tally.isHuge) return;
  const ofAccount = bytesOf(tally);
  // A response that is larger than the bound is sent by itself.
  const isTooMuch = ofAccount > 0 && ofAccount + bytes > mostBytesOfAccount;
  if (isTooMuch || (sending > 0 && sending + bytes > mostBytes)) rejectLarge();
  requireOpen(tally, count(tally, bytes));
}

/** Fails with UNAVAILABLE where the account cannot be sent more. For a write before it is done. */
export function requireRoomLeft(tally: Tally | undefined): void {
  if (tally?.onEnd !== undefined && bytesOf(tally) >= mostBytesOfAccount) rejectLarge();
}

/** Announces a response and counts its bytes as `requireRoom` does, however much the account is sent. */
export function countSent(response: object, tally: Tally | undefined, bytes: number): void {
  announce(response, bytes);
  if (bytes < countedBytes || tally?.onEnd === undefined) return;
  const release = count(tally, bytes);
  if (!tally.onEnd(release)) release();
}

function bytesOf({ account = "" }: Tally): number {
  return byAccount.get(account) ?? 0;
}

/** Counts the bytes until the result is called. */
function count({ account = "" }: Tally, bytes: number): () => void {
  const add = (more: number): void => {
    sending += more;
    const sum = (byAccount.get(account) ?? 0) + more;
    if (sum === 0) byAccount.delete(account);
    else byAccount.set(account, sum);
  };
  add(bytes);
  return () => add(-bytes);
}

function within(least: number, wanted: number, most: number): number {
  return Math.max(least, Math.min(most, Math.floor(wanted)));
}
