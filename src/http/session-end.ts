// Graceful end of HTTP/2 sessions, so that clients know which requests were not processed.
import type { ServerHttp2Session } from "node:http2";

/** How long a client may be connected before its first request, and between two requests, in milliseconds. */
export interface IdleLimits {
  readonly firstMs: number;
  readonly nextMs: number;
}

/** How long a session without a stream may take to close. */
const closingMs = 1_000;
/** The interval between checks whether a session has sent its GOAWAY. */
const sendingMs = 10;

/**
 * Finishes the open streams, and sends the client the id of the last one. Later streams were not processed, so the
 * client can send them again elsewhere (RFC 9113 §6.8). A GOAWAY that permits more streams would lose requests: Node
 * stops reading a session without streams after sending one.
 */
export function endSession(session: ServerHttp2Session): void {
  // Until a destroyed session emits `close`, a timer may still call this.
  if (!session.destroyed) session.close();
}

/**
 * Delays what Node does from within its parser when a client sends a GOAWAY, because that aborts the process on a
 * request behind it in the same packet. It is closed only once it has sent its own GOAWAY: a closed session resets a
 * new stream, and thereby sends the GOAWAY, which frees the stream that is being parsed (nodejs/node#64113). It is
 * destroyed after the parser: a destroyed session takes no new stream, but passes its data on (nodejs/node#64850).
 */
export function endOutsideParser(session: ServerHttp2Session): void {
  const [close, destroy] = [session.close.bind(session), session.destroy.bind(session)];
  const closeOnceSent = (): void => {
    if (session.destroyed) return;
    if (session.state.outboundQueueSize === 0) close();
    else setTimeout(closeOnceSent, sendingMs);
  };
  let ending = false;
  session.close = () => {
    if (ending || session.destroyed) return;
    ending = true;
    session.goaway();
    setTimeout(closeOnceSent, sendingMs);
  };
  session.destroy = (error, code) => process.nextTick(() => destroy(error, code));
}

/** The open streams of a session, by which it is idle or not. */
export interface OpenStreams {
  begin(): void;
  end(): void;
}

/**
 * Ends a session that has had no stream within the limits; pings and partial headers do not count. Node limits this
 * only for HTTP/1.1. `cut` closes the connection. Destroying the session would not close it while the client reads
 * nothing.
 */
export function limitIdle(session: ServerHttp2Session, { firstMs, nextMs }: IdleLimits, cut: () => void): OpenStreams {
  let open = 0;
  const end = (): void => {
    endSession(session);
    timer = setTimeout(cut, closingMs);
  };
  let timer = setTimeout(end, firstMs);
  session.once("close", () => clearTimeout(timer));
  return {
    begin() {
      if (open === 0) clearTimeout(timer);
      open += 1;
    },
    end() {
      open -= 1;
      if (open === 0 && !session.destroyed) timer = setTimeout(end, nextMs);
    },
  };
}
