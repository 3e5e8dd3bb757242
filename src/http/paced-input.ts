// Paces input: passes large reads of a connection on in small pieces, in turn with those of other connections.
import type { Socket } from "node:net";
import type { Schedule } from "../call/fair-queue.ts";
import { createSerialQueue } from "../call/fair-queue.ts";

/**
 * The size of a piece, in bytes. Node reads up to 64 KiB at once and parses them in one go. They can hold 2,500
 * requests, or 10,000 chunks of one byte.
 */
const pieceBytes = 2_048;
/** The maximum number of bytes that are read ahead, as many as Node reads ahead of a body. */
const maxHeld = 16_384;
/**
 * The maximum number of times that a request is delayed because bytes follow it: the number of pieces in the largest
 * read. By then, a client that resets its requests as fast as it sends them has done so.
 */
const maxBehind = 32;
/**
 * The number of pending requests of one connection that holds back its further input. At least 2, because the last
 * request may be waiting for its body.
 */
const maxPending = 16;

const nothing = Buffer.alloc(0);

/** The paced input of a connection. */
export interface PacedInput {
  /** Begins a request from the connection: at once, or in turn if another one is pending. */
  begin(request: () => void): void;
  /** Call it when the response to such a request is closed. */
  end(): void;
  /** Returns whether input waits for its turn, so that the connection is not idle. */
  waits(): boolean;
  /** Discards the input that was not passed on, and all further input. */
  discard(): void;
  /**
   * Returns whether bytes still wait that arrived together with those passed on. After `maxBehind` times in a row, it
   * returns false once, so that endless input does not block requests.
   */
  behind(): boolean;
}

/** Starts to pace the input of a connection. */
export function paceInput(socket: Socket, schedule: Schedule): PacedInput {
  const push = socket.push.bind(socket);
  const read = socket._read.bind(socket);
  let held: Buffer = nothing;
  let [ended, queued, discarding] = [false, false, false];
  let checks = 0;
  const pipeline = createPipeline(schedule, passSoon);

  /** Returns whether to wait: unread bytes that were passed on would be parsed in one go with the next ones. */
  const paused = (): boolean => socket.isPaused() || socket.readableLength > 0 || pipeline.isFull();

  function passSoon(): void {
    if (queued || held.length === 0 || paused()) return;
    queued = true;
    schedule(pass);
  }

  function pass(): void {
    queued = false;
    if (socket.destroyed || held.length === 0 || paused()) return;
    const piece = held.subarray(0, pieceBytes);
    held = held.subarray(piece.length);
    push(piece);
    if (held.length > 0) passSoon();
    else if (ended) push(null);
  }

  // These methods connect a stream with its source: the source pushes input, and the stream requests more.
  socket.push = (chunk: Buffer | null) => {
    if (chunk === null) {
      ended = true;
      return held.length === 0 && push(null);
    }
    if (discarding) return true;
    if (held.length === 0 && chunk.length <= pieceBytes && !paused()) return push(chunk);
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    passSoon();
    // Continues to read up to the limit, because only reading shows that the client has left.
    return held.length < maxHeld;
  };
  socket._read = (size) => {
    if (held.length === 0) read(size);
    else passSoon();
  };
  socket.on("resume", passSoon);
  socket.once("close", () => (held = nothing));

  return {
    begin: pipeline.begin,
    end: pipeline.end,
    waits: () => queued && !socket.destroyed,
    discard() {
      discarding = true;
      held = nothing;
    },
    behind() {
      checks = held.length > 0 && checks < maxBehind ? checks + 1 : 0;
      return checks > 0;
    },
  };
}

/** The requests of a connection that have no response yet. */
interface Pipeline extends Pick<PacedInput, "begin" | "end"> {
  isFull(): boolean;
}

function createPipeline(schedule: Schedule, onEnd: () => void): Pipeline {
  const beginSoon = createSerialQueue(schedule);
  let pending = 0;
  return {
    isFull: () => pending >= maxPending,
    begin(request) {
      pending++;
      if (pending === 1) request();
      else
        beginSoon(() => {
          request();
          return true;
        });
    },
    end() {
      pending--;
      onEnd();
    },
  };
}
