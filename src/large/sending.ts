// Limits on the bytes of responses being sent, for each account and in total, because clients can read slowly.
import { getHeapStatistics } from "node:v8";
import type { DescMethod } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import type { Tally } from "../call/tally.ts";
import { rejectLarge, releaseAtEnd } from "./slots.ts";

/** The size from which a response is counted, in bytes. */
const countedBytes = 65_536;
/**
 * The maximum number of bytes being sent: a sixteenth of the heap, from 16 to 128 MB. A response takes up to twice its
 * bytes.
 */
export const maxBytes = within(16_000_000, getHeapStatistics().heap_size_limit / 16, 128_000_000);
/** The maximum number of bytes being sent to one account: a quarter of the total, from 4 to 16 MB. */
export const maxBytesPerAccount = within(4_000_000, maxBytes / 4, 16_000_000);

const sizes = new WeakMap<object, number>();
let sending = 0;
const byAccount = new Map<string, number>();

/** Records the size of a response, and counts its bytes until its request has ended. */
export type ReserveBytes = (response: object, tally: Tally | undefined, bytes: number) => void;

/**
 * Returns how responses of a method are counted: `requireBytes` for reads, `countSent` for writes. The result of a
 * completed write is always sent.
 */
export function reservationFor({ idempotency }: DescMethod): ReserveBytes {
  return idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS ? requireBytes : countSent;
}

/** Records the size of a response before it is sent, because a client gets more time for a larger one. */
export function recordSize(response: object, bytes: number): void {
  if (bytes >= countedBytes) sizes.set(response, bytes);
}

/** Returns the recorded size of a response; undefined if it is not counted. */
export function recordedSize(response: object): number | undefined {
  return sizes.get(response);
}

/**
 * Records the size of a response, and counts its bytes until its request has ended. Fails with UNAVAILABLE if the
 * account or the instance is already sending too much. Fails with CANCELLED if the request has ended. Responses with a
 * slot for huge ones, and those on the internal listener, are not limited here.
 */
export function requireBytes(response: object, tally: Tally | undefined, bytes: number): void {
  recordSize(response, bytes);
  if (bytes < countedBytes || tally?.onEnd === undefined || tally.hugeSlot !== undefined) return;
  const ofAccount = bytesOf(tally);
  // A response larger than the limit is sent alone.
  const isTooMuch = ofAccount > 0 && ofAccount + bytes > maxBytesPerAccount;
  if (isTooMuch || (sending > 0 && sending + bytes > maxBytes)) rejectLarge();
  releaseAtEnd(tally, count(tally, bytes));
}

/**
 * Fails with UNAVAILABLE if the account has reached its limit. Called before a write of records, and before every
 * request of an assistant.
 */
export function requireBytesLeft(tally: Tally | undefined): void {
  if (tally?.onEnd !== undefined && bytesOf(tally) >= maxBytesPerAccount) rejectLarge();
}

/** Records and counts a response as `requireBytes` does, without a limit. */
export function countSent(response: object, tally: Tally | undefined, bytes: number): void {
  recordSize(response, bytes);
  if (bytes < countedBytes || tally?.onEnd === undefined) return;
  const release = count(tally, bytes);
  if (!tally.onEnd(release)) release();
}

function bytesOf({ account = "" }: Tally): number {
  return byAccount.get(account) ?? 0;
}

/** Counts the bytes until the returned function is called. */
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

function within(min: number, wanted: number, max: number): number {
  return Math.max(min, Math.min(max, Math.floor(wanted)));
}
