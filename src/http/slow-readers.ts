// Clients that are slow to take a response: each response has a time that grows with its size.
import type { ServerHttp2Stream } from "node:http2";
import { announcedSize } from "../large/sending.ts";
import type { Response } from "../call/exchange.ts";
import type { Running } from "./running.ts";

/** What a client may take. */
export interface ReadingLimits {
  /** How long it may take nothing, and how long it has for a small response. */
  readonly stalledMs: number;
  /** The bytes a second of a larger one. */
  readonly leastRate: number;
}

/** Responses are looked at so often, and none is timed by itself: nearly all are gone by the next look. */
const everyMs = 1_000;

/**
 * Cuts off each response that its client takes too slowly, from the first look on that finds it on its way. A stream of
 * unknown size is not limited before it is ended. The result stops looking.
 */
export function limitReading(
  { responses }: Running,
  { stalledMs, leastRate }: ReadingLimits,
  cutStream: (stream: ServerHttp2Stream) => void,
): () => void {
  const since = new WeakMap<Response, number>();
  const timer = setInterval(() => {
    const now = performance.now();
    for (const response of responses) {
      if (!isSent(response)) continue;
      const begun = since.get(response) ?? now;
      since.set(response, begun);
      const mostMs = stalledMs + ((announcedSize(response) ?? 0) / leastRate) * 1_000;
      if (now - begun <= mostMs) continue;
      if (isHttp2(response)) cutStream(response.stream);
      else response.socket?.destroy();
    }
  }, everyMs).unref();
  return () => clearInterval(timer);
}

/** Whether a response is being sent, and its size is known. In HTTP/1.1 one that waits behind another has no socket. */
function isSent(response: Response): boolean {
  if (!response.headersSent || response.socket === null) return false;
  return announcedSize(response) !== undefined || response.writableEnded;
}

function isHttp2(response: Response): response is Response & { readonly stream: ServerHttp2Stream } {
  return "stream" in response && response.stream !== undefined;
}
