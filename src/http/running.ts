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
  /** The open streams of HTTP/2 that are rejected without such a response. */
  readonly rejected: ReadonlySet<ServerHttp2Stream>;
  /** Follows a rejected stream, until the returned function is called. */
  followRejected(stream: ServerHttp2Stream): () => void;
  /** Forgets a response for which nothing is begun. */
  forget(response: Response): void;
  /** Resolves when no response is in progress, or after `ms`. */
  ended(ms: number): Promise<void>;
}

export function createRunning(): ResponseTracker {
  const responses = new Set<Response>();
  const rejected = new Set<ServerHttp2Stream>();
  let onEnd: (() => void) | undefined;

  const isOver = (): boolean => responses.size === 0 && rejected.size === 0;
  function forget(response: Response): void {
    responses.delete(response);
    if (isOver()) onEnd?.();
  }
  return {
    responses,
    rejected,
    forget,
    followRejected(stream) {
      rejected.add(stream);
      return () => {
        rejected.delete(stream);
        if (isOver()) onEnd?.();
      };
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
