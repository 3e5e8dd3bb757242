// Detects that a client closes its connection or resets its stream before it has the response.
import { setMaxListeners } from "node:events";
import type { Cancellation } from "../deadline.ts";
import type { Response } from "../call/exchange.ts";

/**
 * Interrupting a command closes its database connection, and a new connection costs more than nearly any command. So
 * short commands may finish after a cancellation, and clients that cancel everything do not exhaust connections.
 */
const patienceMs = 250;

/** Follows the response of a request. */
export function cancellationOf(response: Response): Cancellation {
  let requested = false;
  let controller: AbortController | undefined;
  response.once("close", () => {
    if (response.writableEnded) return;
    requested = true;
    if (controller !== undefined) setTimeout(() => controller?.abort(), patienceMs).unref();
  });
  return {
    get requested() {
      return requested;
    },
    get signal() {
      if (controller === undefined) {
        controller = new AbortController();
        // Every command of a batch listens.
        setMaxListeners(0, controller.signal);
      }
      return controller.signal;
    },
  };
}
