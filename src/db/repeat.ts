// Work that continues in the background until the service stops.

/** Work in the background. */
export interface Background {
  /** Begins the work no more; what runs continues to its end. */
  stop(): void;
}

/** Called for work in the background that failed, with what it was, in words for the log, and why. */
export type OnTrouble = (what: string, error: unknown) => void;

/**
 * Does the work again and again, `everyMs` after it was done last. What it rejects with is left to the next time;
 * `onError` is called with it.
 */
export function repeat(
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
