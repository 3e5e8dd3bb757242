// Repeated background work that continues until the service stops.

/** Repeated work in the background. */
export interface Background {
  /** Stops repeating the work. A run under way continues to its end. */
  stop(): void;
}

/** Called when background work fails, with a description of the work for the log, and the error. */
export type OnTrouble = (what: string, error: unknown) => void;

/**
 * Repeats the work, each time `everyMs` after the last run ended. If it fails, `onError` is called and the next run
 * tries again.
 */
export function runPeriodically(
  everyMs: number,
  work: (isStopped: () => boolean) => Promise<void>,
  onError: (error: unknown) => void,
): Background {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  async function once(): Promise<void> {
    try {
      await work(() => stopped);
    } catch (error) {
      if (!stopped) onError(error);
    }
    if (!stopped) wait();
  }
  function wait(): void {
    timer = setTimeout(() => void once(), everyMs).unref();
  }
  wait();
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
