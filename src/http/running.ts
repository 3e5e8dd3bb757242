// Tracks the responses in progress, so that a stop can wait for them.
import type { ServerHttp2Stream } from "node:http2";
import type { Response } from "../call/exchange.ts";
import { withTimeout } from "../call/time-limit.ts";

/** The responses in progress of a listener. */
export interface ResponseTracker {
  /** The responses that are not closed. */
  readonly responses: ReadonlySet<Response>;
  /** Follows a response until it closes. */
  follow(response: Response): void;
  /** Follows a stream of HTTP/2 that is rejected without such a response. */
  followRejected(stream: ServerHttp2Stream): void;
  /** Forgets a response for which nothing is begun. */
  forget(response: Response): void;
  /** Resolves when no response is in progress, or after `ms`. */
  ended(ms: number): Promise<void>;
}

export function createRunning(): ResponseTracker {
  const responses = new Set<Response>();
  let rejected = 0;
  let onEnd: (() => void) | undefined;

  const isOver = (): boolean => responses.size === 0 && rejected === 0;
  function forget(response: Response): void {
    responses.delete(response);
    if (isOver()) onEnd?.();
  }
  return {
    responses,
    forget,
    followRejected(stream) {
      rejected += 1;
      stream.once("close", () => {
        rejected -= 1;
        if (isOver()) onEnd?.();
      });
    },
    follow(response) {
      responses.add(response);
      response.once("close", () => forget(response));
    },
    async ended(ms) {
      if (!isOver()) await withTimeout(ms, new Promise<void>((resolve) => (onEnd = resolve)));
    },
  };
}
