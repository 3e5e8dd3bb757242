// Whether the client of a request has gone away, or has reset its stream, before it had its response.
import { setMaxListeners } from "node:events";
import type { Cancellation } from "../deadline.ts";
import type { Response } from "./listener.ts";

/**
 * A command that is broken off takes its connection to the database with it, and a new one costs more than what nearly
 * all commands need to finish. So a client that cancels everything it asks for wears out no connections.
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
