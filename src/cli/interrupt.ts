// Interruption of a command: a signal that is aborted by the first Ctrl-C; the second one ends the process.
import { onSignals } from "../signals.ts";
import { exitCodes } from "./exit.ts";

/** A watch for Ctrl-C. */
export interface Interrupt {
  /** Aborted by the first. */
  readonly signal: AbortSignal;
  /** Ends the watch. */
  end(): void;
}

/** Watches until it is ended. `onFirst` says to the user what happens now. */
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
