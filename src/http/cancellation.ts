// Detects that a client closes its connection or resets its stream before its response is complete.
import { setMaxListeners } from "node:events";
import type { Cancellation } from "../call/deadline.ts";
import type { Response } from "../call/exchange.ts";

/**
 * The time from a cancellation to the interruption of commands. An interruption closes a database connection, and a new
 * one costs more than nearly any command. Therefore, short commands may finish, and clients that cancel everything do
 * not exhaust connections.
 */
const patienceMs = 250;

/** Returns the cancellation of a request. It is requested if the response closes before it is complete. */
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
        // Every command of a batch adds a listener.
        setMaxListeners(0, controller.signal);
      }
      return controller.signal;
    },
  };
}
