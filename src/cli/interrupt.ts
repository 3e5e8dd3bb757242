// Ctrl-C, and SIGTERM: the first ends what runs in good order, the second at once.
import { exitCodes } from "./exit.ts";

/** A watch for Ctrl-C. */
export interface Interrupt {
  /** Aborted by the first. */
  readonly signal: AbortSignal;
  /** Ends the watch. */
  end(): void;
}

/** Watches until it is ended. `onFirst` says to the person what happens now. */
export function onInterrupt(onFirst: () => void): Interrupt {
  const controller = new AbortController();
  const receive = (): void => {
    if (controller.signal.aborted) process.exit(exitCodes.interrupted);
    onFirst();
    controller.abort();
  };
  process.on("SIGINT", receive).on("SIGTERM", receive);
  return { signal: controller.signal, end: () => void process.off("SIGINT", receive).off("SIGTERM", receive) };
}
