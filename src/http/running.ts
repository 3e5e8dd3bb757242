// Tracks the responses in progress, so that a stop can wait for them.
import type { Response } from "../call/exchange.ts";
import { withTimeout } from "../call/time-limit.ts";

/** The responses in progress of a listener. */
export interface ResponseTracker {
  /** The responses that are not closed. */
  readonly responses: ReadonlySet<Response>;
  /** Follows a response until it closes. */
  follow(response: Response): void;
  /** Forgets a response for which nothing is begun. */
  forget(response: Response): void;
  /** Resolves when no response is in progress, or after `ms`. */
  ended(ms: number): Promise<void>;
}

export function createRunning(): ResponseTracker {
  const responses = new Set<Response>();
  let onEnd: (() => void) | undefined;

  function forget(response: Response): void {
    responses.delete(response);
    if (responses.size === 0) onEnd?.();
  }
  return {
    responses,
    forget,
    follow(response) {
      responses.add(response);
      response.once("close", () => forget(response));
    },
    async ended(ms) {
      if (responses.size > 0) await withTimeout(ms, new Promise<void>((resolve) => (onEnd = resolve)));
    },
  };
}
