// Work that goes on in the background until the service stops.

/** Work in the background. */
export interface Background {
  /** Begins the work no more; what runs goes on to its end. */
  stop(): void;
}

/** Hears of work in the background that failed: what it was, in words for the log, and why. */
export type OnTrouble = (what: string, error: unknown) => void;

/**
 * Does the work again and again, `everyMs` after it was done last. What it rejects with is left to the next time;
 * `onError` hears of the first of failures in a row.
 */
export function repeat(everyMs: number, work: (isStopped: () => boolean) => Promise<void>, onError: (error: unknown) => void): Background {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let failing = false;
  async function once(): Promise<void> {
    try {
      await work(() => stopped);
      failing = false;
    } catch (error) {
      if (!failing && !stopped) onError(error);
      failing = true;
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
