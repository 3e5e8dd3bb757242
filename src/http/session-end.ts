// Ends HTTP/2 sessions without losing a request that is on its way.
import type { ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";

/** How long a client may be connected before its first request, and between two. */
export interface IdleLimits {
  readonly firstMs: number;
  readonly nextMs: number;
}

/** How long a client that is told to go may still begin a request. */
const lastWordMs = 1_000;
/** A GOAWAY without an error that refuses no stream (RFC 9113 §6.8): length 8, type 7, the highest stream id, code 0. */
const goaway = Buffer.from("000008" + "07" + "00" + "00000000" + "7fffffff" + "00000000", "hex");

/**
 * Asks for no more streams, takes those that were on their way when that arrived, and closes. The frame goes straight to
 * the socket: once Node has sent one itself, it stops to read a session without streams, and would lose what is on its
 * way. Before our settings are acknowledged, they might not have been sent, and have to be the first frame.
 */
export function announceEnd(session: ServerHttp2Session, socket: Socket): void {
  // A destroyed session is kept until it emits `close`: until then a timer may call this, and Node would throw.
  if (session.destroyed || session.closed) return;
  if (session.pendingSettingsAck) return void session.once("localSettings", () => announceEnd(session, socket));
  socket.write(goaway);
  session.ping(() => session.close());
}

/** Ends a session that has had no stream for so long. Node limits that in HTTP/1.1 alone; pings and parts of headers are none. */
export function limitIdle(session: ServerHttp2Session, socket: Socket, { firstMs, nextMs }: IdleLimits): void {
  let open = 0;
  const end = (): void => {
    announceEnd(session, socket);
    timer = setTimeout(() => session.destroy(), lastWordMs);
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
