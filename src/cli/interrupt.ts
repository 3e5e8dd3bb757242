// Interruption of a command: the first Ctrl-C or SIGTERM aborts a signal, and the second one ends the process.
import { onSignals } from "../process/signals.ts";
import { exitCodes } from "./exit.ts";

/** A handler for Ctrl-C and SIGTERM. */
export interface Interrupt {
  /** Aborted by the first Ctrl-C or SIGTERM. */
  readonly signal: AbortSignal;
  /** Removes the handler. */
  end(): void;
}

/** Handles Ctrl-C and SIGTERM until `end` is called. `onFirst` reports to the user what happens next. */
export function onInterrupt(onFirst: () => void): Interrupt {
  const controller = new AbortController();
  const end = onSignals(
    () => {
      onFirst();
      controller.abort();
    },
    () => process.exit(exitCodes.interrupted),
  );
  return { signal: controller.signal, end };
}
