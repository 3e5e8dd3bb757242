// Cuts off clients that read a response too slowly: the time limit grows with the size of the response.
import type { ServerHttp2Stream } from "node:http2";
import { recordedSize } from "../large/sending.ts";
import type { Response } from "../call/exchange.ts";
import type { ResponseTracker } from "./running.ts";

/** Limits for reading a response. */
export interface ReadingLimits {
  /** How long a client may read nothing, and the time limit of a small response, in milliseconds. */
  readonly stalledMs: number;
  /** The minimum rate for a larger response, in bytes per second. */
  readonly minRate: number;
}

/**
 * The interval between checks. No response has a timer of its own, because nearly all are complete by the next check.
 */
const everyMs = 1_000;

/**
 * Cuts off each response that its client reads too slowly. Its time starts at the first check that finds it being sent.
 * A stream of unknown size is not limited until it has ended. Returns a function that stops the checks.
 */
export function limitReading(
  { responses, rejected }: ResponseTracker,
  { stalledMs, minRate }: ReadingLimits,
  cutStream: (stream: ServerHttp2Stream) => void,
): () => void {
  const since = new WeakMap<object, number>();
  const isOlder = (one: object, now: number, maxMs: number): boolean => {
    const begun = since.get(one) ?? now;
    since.set(one, begun);
    return now - begun > maxMs;
  };
  const timer = setInterval(() => {
    const now = performance.now();
    for (const response of responses) {
      if (!isSent(response)) continue;
      if (!isOlder(response, now, stalledMs + ((recordedSize(response) ?? 0) / minRate) * 1_000)) continue;
      if (isHttp2(response)) cutStream(response.stream);
      else response.socket?.destroy();
    }
    for (const stream of rejected) if (isOlder(stream, now, stalledMs)) cutStream(stream);
  }, everyMs).unref();
  return () => clearInterval(timer);
}

/**
 * Returns whether a response of known size is being sent. In HTTP/1.1, a response that waits behind another has no
 * socket.
 */
function isSent(response: Response): boolean {
  if (!response.headersSent || response.socket === null) return false;
  return recordedSize(response) !== undefined || response.writableEnded;
}

function isHttp2(response: Response): response is Response & { readonly stream: ServerHttp2Stream } {
  return "stream" in response && response.stream !== undefined;
}
