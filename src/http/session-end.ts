// Ends HTTP/2 sessions so that no request is lost without a word.
import type { ServerHttp2Session } from "node:http2";

/** How long a client may be connected before its first request, and between two. */
export interface IdleLimits {
  readonly firstMs: number;
  readonly nextMs: number;
}

/** How long a session without a stream may take to close. */
const closingMs = 1_000;

/**
 * Finishes the streams that run, and tells the client which was the last: of a later one nothing was begun, and it can be
 * sent again elsewhere (RFC 9113 §6.8). A GOAWAY that permits more streams is no choice: Node stops to read a session
 * that has sent one and has no stream, and a request that crosses it would wait in vain.
 */
export function endSession(session: ServerHttp2Session): void {
  // A destroyed session is kept until it emits `close`: until then a timer may call this.
  if (!session.destroyed) session.close();
}

/** Ends a session that has had no stream for so long. Node limits that in HTTP/1.1 alone; pings and parts of headers are none. */
export function limitIdle(session: ServerHttp2Session, { firstMs, nextMs }: IdleLimits): void {
  let open = 0;
  const end = (): void => {
    endSession(session);
    timer = setTimeout(() => session.destroy(), closingMs);
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
