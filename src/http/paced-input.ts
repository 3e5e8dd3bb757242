// Pacing of input: passes large reads of a connection on in small pieces, in turn with those of other connections.
import type { Socket } from "node:net";
import type { Wait } from "../turns.ts";
import { inTurn } from "../turns.ts";

/**
 * Node reads up to 64 KiB at once and parses them in one go. They can hold 2,500 requests, or 10,000 chunks of a byte.
 */
const pieceBytes = 2_048;
/** So much is read before it can be passed on, as Node does of a body. */
const mostHeld = 16_384;
/**
 * In as many pieces as the largest read has, a client that resets its requests as fast as it sends them has done so.
 */
const mostBehind = 32;
/**
 * More pending requests of one connection hold back what follows them. At least 2: the last may wait for its body.
 */
const mostPending = 16;

const nothing = Buffer.alloc(0);

/** The paced input of a connection. */
export interface PacedInput {
  /** Begins a request that was taken from the connection: at once, or in turn where another one is pending. */
  begin(request: () => void): void;
  /** To be called when the response to such a request is closed. */
  end(): void;
  /** Whether something waits for its turn: the connection is not idle. */
  waits(): boolean;
  /** Throws away what was not passed on, and all that comes from now on. */
  discard(): void;
  /**
   * Whether bytes that arrived with those that were passed on still wait. False now and then where there is no end of
   * them.
   */
  behind(): boolean;
}

/** Paces the input of a connection from now on. */
export function paceInput(socket: Socket, wait: Wait): PacedInput {
  const push = socket.push.bind(socket);
  const read = socket._read.bind(socket);
  let held: Buffer = nothing;
  let [ended, queued, discarding] = [false, false, false];
  let checks = 0;
  const pipeline = createPipeline(wait, passSoon);

  /** What was passed on and not taken yet would be parsed in one go with what follows. */
  const paused = (): boolean => socket.isPaused() || socket.readableLength > 0 || pipeline.isFull();

  function passSoon(): void {
    if (queued || held.length === 0 || paused()) return;
    queued = true;
    wait(pass);
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

  // The two methods between a stream and its source: the source pushes what it has, the stream requests more.
  socket.push = (chunk: Buffer | null) => {
    if (chunk === null) {
      ended = true;
      return held.length === 0 && push(null);
    }
    if (discarding) return true;
    if (held.length === 0 && chunk.length <= pieceBytes && !paused()) return push(chunk);
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    passSoon();
    // Reading shows as well that the client has gone.
    return held.length < mostHeld;
  };
  socket._read = (size) => {
    if (held.length === 0) read(size);
    else passSoon();
  };
  socket.on("resume", passSoon);

  return {
    begin: pipeline.begin,
    end: pipeline.end,
    waits: () => queued && !socket.destroyed,
    discard() {
      discarding = true;
      held = nothing;
    },
    behind() {
      checks = held.length > 0 && checks < mostBehind ? checks + 1 : 0;
      return checks > 0;
    },
  };
}

/** The requests of a connection that have no response yet; calls `onEnd` when one of them gets it. */
interface Pipeline extends Pick<PacedInput, "begin" | "end"> {
  isFull(): boolean;
}

function createPipeline(wait: Wait, onEnd: () => void): Pipeline {
  const beginSoon = inTurn(wait);
  let pending = 0;
  return {
    isFull: () => pending >= mostPending,
    begin(request) {
      pending++;
      if (pending === 1) request();
      else beginSoon(request);
    },
    end() {
      pending--;
      onEnd();
    },
  };
}
