// Unacknowledged rejections of an import, which are stored with its progress and repeated when it resumes.
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import { constants, deflateRaw, inflateRaw } from "node:zlib";
import { fromBinary } from "@bufbuild/protobuf";
import { sizeDelimitedEncode, sizeDelimitedPeek } from "@bufbuild/protobuf/wire";
import type { Rejection } from "../gen/records/ingest/v1/import_pb.ts";
import { RejectionSchema } from "../gen/records/ingest/v1/import_pb.ts";

/** The rejections of a stream. */
export interface Rejections {
  add(rejections: readonly Rejection[]): void;
  /** Whether the rejections to report fill a response. */
  isLarge(): boolean;
  /** Removes and returns the added rejections for a response, in the order of their positions. */
  take(): Rejection[];
  /**
   * Returns all reported and unacknowledged rejections in pieces, each for one response. Returns at least one piece,
   * which may be empty.
   */
  repeated(): Rejection[][];
  /** Call it when the client has received every rejection before this position. */
  acknowledge(position: number): void;
  /** Returns all taken and unacknowledged rejections in their stored form; undefined if there are none. */
  stored(): Promise<Uint8Array | undefined>;
}

/** Most clients accept messages of up to 4 MB. */
const responseBytes = 1_000_000;
/**
 * The maximum size of the stored rejections, far below the 16 MB of a document even if they are incompressible. A
 * client that acknowledges rejections reaches it only while more of them are in flight. `records import` sends 20,000
 * records ahead (`cli/import/window.ts`).
 */
const maxBytes = 8_000_000;
const compression = { level: constants.Z_BEST_SPEED };
const deflate = promisify<Buffer, typeof compression, Buffer>(deflateRaw);
const inflate = promisify<Uint8Array, { maxOutputLength: number }, Buffer>(inflateRaw);

/** A rejection and its encoding, which is made once because every write of the progress stores the whole list. */
interface Kept {
  readonly rejection: Rejection;
  readonly bytes: Uint8Array;
}

/** Opens the rejections of a stream, beginning with those that an earlier stream stored. */
export async function openRejections(stored: Uint8Array | undefined): Promise<Rejections> {
  let unacknowledged = stored === undefined ? [] : await decode(stored);
  let added: Kept[] = [];
  return {
    add: (rejections) => void added.push(...rejections.map(keptOf)),
    isLarge: () => sizeOf(added) >= responseBytes,
    take() {
      const taken = added.sort((one, other) => placeOf(one) - placeOf(other));
      added = [];
      unacknowledged = newest([...unacknowledged, ...taken]);
      return taken.map(({ rejection }) => rejection);
    },
    repeated: () => inPieces(unacknowledged),
    acknowledge(position) {
      const [first] = unacknowledged;
      if (first !== undefined && placeOf(first) < position)
        unacknowledged = unacknowledged.filter((one) => placeOf(one) >= position);
    },
    stored: async () =>
      unacknowledged.length === 0
        ? undefined
        : deflate(Buffer.concat(unacknowledged.map(({ bytes }) => bytes)), compression),
  };
}

function keptOf(rejection: Rejection): Kept {
  return { rejection, bytes: sizeDelimitedEncode(RejectionSchema, rejection) };
}

async function decode(stored: Uint8Array): Promise<Kept[]> {
  const all = await inflate(stored, { maxOutputLength: maxBytes });
  const kept: Kept[] = [];
  for (let at = 0, pause = responseBytes; at < all.length; ) {
    const next = sizeDelimitedPeek(all.subarray(at));
    if (next.eof) throw new Error("the stored rejections of the import are damaged");
    const end = at + next.offset + next.size;
    const rejection = fromBinary(RejectionSchema, all.subarray(at + next.offset, end));
    kept.push({ rejection, bytes: all.subarray(at, end) });
    at = end;
    if (at >= pause) {
      // Other requests are served between pieces of some milliseconds.
      pause += responseBytes;
      await setImmediate();
    }
  }
  return kept;
}

function placeOf({ rejection }: Kept): number {
  return Number(rejection.position);
}

function sizeOf(all: readonly Kept[]): number {
  return all.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

/** Returns the newest rejections that fit into the stored document. */
function newest(all: Kept[]): Kept[] {
  let excess = sizeOf(all) - maxBytes;
  let from = 0;
  for (; excess > 0; from++) excess -= all[from]?.bytes.length ?? excess;
  return from === 0 ? all : all.slice(from);
}

function inPieces(all: readonly Kept[]): Rejection[][] {
  const pieces: Rejection[][] = [[]];
  let size = 0;
  for (const { rejection, bytes } of all) {
    if (size >= responseBytes) {
      pieces.push([]);
      size = 0;
    }
    pieces.at(-1)?.push(rejection);
    size += bytes.length;
  }
  return pieces;
}
