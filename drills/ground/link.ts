// One connection through the network of a drill: its bytes pass, wait, are delayed or are lost, as the state of its
// link says.
import type { Socket } from "node:net";
import { connect } from "node:net";
import type { Ports } from "./owner.ts";

/** What a link does to the bytes on it. */
export type LinkState =
  /** Everything passes. */
  | "open"
  /** Open connections are reset, and new ones at once. */
  | "rejected"
  /** Bytes wait in these directions, and are lost where their connection is closed meanwhile. */
  | { readonly held: "both" | "requests" | "replies" }
  /** Every piece takes so much longer in each direction. */
  | { readonly delayMs: number };

/** A connection from a process to a server. */
export interface Connection extends Ports {
  /** Undefined while the process is not known. */
  from: string | undefined;
  readonly to: string;
  readonly closed: Promise<void>;
  set(state: LinkState): void;
}

/** Bytes on their way; without bytes it is the end of the connection. */
interface Piece {
  readonly bytes?: Buffer;
  readonly due: number;
}

/** Connects the client's socket, which is paused, to the server at `HOST:PORT`. */
export function openConnection(near: Socket, target: string, names: Pick<Connection, "to" | keyof Ports>): Connection {
  const [host = "", port = ""] = target.split(":");
  const far = connect(Number(port), host);
  for (const socket of [near, far]) socket.setNoDelay(true);
  let state: LinkState = "open";
  const held = (direction: "requests" | "replies"): boolean =>
    typeof state === "object" && "held" in state && (state.held === "both" || state.held === direction);
  const reset = (): void => {
    for (const socket of [near, far]) socket.resetAndDestroy();
  };
  const delay = (): number => (typeof state === "object" && "delayMs" in state ? state.delayMs : 0);
  const lanes = [lane(near, far, () => held("requests"), delay), lane(far, near, () => held("replies"), delay)];
  return {
    ...names,
    from: undefined,
    closed: Promise.all(
      [near, far].map((socket) => new Promise<void>((resolve) => socket.once("close", () => resolve()))),
    ).then(() => undefined),
    set(next) {
      state = next;
      if (state === "rejected") reset();
      else for (const pump of lanes) pump();
    },
  };
}

/** One direction of a connection. The result passes on what may pass now. */
function lane(from: Socket, to: Socket, held: () => boolean, delay: () => number): () => void {
  let waiting: Piece[] = [];
  let timer: NodeJS.Timeout | undefined;

  function pump(): void {
    clearTimeout(timer);
    while (!held()) {
      const [piece] = waiting;
      if (piece === undefined) break;
      const early = piece.due - performance.now();
      if (early > 0) {
        timer = setTimeout(pump, early);
        return;
      }
      waiting.shift();
      if (piece.bytes === undefined) to.destroySoon();
      else to.write(piece.bytes);
    }
  }
  function take(bytes?: Buffer): void {
    waiting.push({ due: performance.now() + delay(), ...(bytes && { bytes }) });
    pump();
  }

  from.on("data", take);
  from.on("error", () => undefined);
  from.once("close", () => {
    // What the network had not delivered yet is lost with its connection, and the other side hears of the end later.
    if (held()) waiting = [];
    take();
  });
  from.resume();
  return pump;
}
