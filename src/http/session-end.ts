// Graceful end of HTTP/2 sessions: the client knows which requests were not processed.
import type { ServerHttp2Session } from "node:http2";

/** How long a client may be connected before its first request, and between two. */
export interface IdleLimits {
  readonly firstMs: number;
  readonly nextMs: number;
}

/** How long a session without a stream may take to close. */
const closingMs = 1_000;

/**
 * Finishes the streams that run, and sends the client the id of the last one. A later stream was not processed, so the
 * client can send it again elsewhere (RFC 9113 §6.8). A GOAWAY that permits more streams would lose requests: once Node
 * has sent one on a session without streams, it no longer reads the session.
 */
export function endSession(session: ServerHttp2Session): void {
  // A destroyed session is kept until it emits `close`: until then a timer may call this.
  if (!session.destroyed) session.close();
}

/**
 * Ends a session that has had no stream for so long. Node limits that in HTTP/1.1 alone; pings and parts of headers are
 * none. `cut` closes the connection: destroying the session does not, while the client reads nothing.
 */
export function limitIdle(session: ServerHttp2Session, { firstMs, nextMs }: IdleLimits, cut: () => void): void {
  let open = 0;
  const end = (): void => {
    endSession(session);
    timer = setTimeout(cut, closingMs);
  };
  let timer = setTimeout(end, firstMs);
  session.on("stream", (stream) => {
    open += 1;
    clearTimeout(timer);
    stream.once("close", () => {
      open -= 1;
      if (open === 0 && !session.destroyed) timer = setTimeout(end, nextMs);
    });
  });
  session.once("close", () => clearTimeout(timer));
}
