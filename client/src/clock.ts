// The time that the client waits by, which tests replace.

/** A clock with timers. Times are in milliseconds. */
export interface Clock {
  now(): number;
  /** Calls back once after so long. The response takes that back. */
  after(milliseconds: number, callback: () => void): () => void;
}

/** The machine's own. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, callback) {
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** Waits. Rejects with the signal's reason as soon as it is aborted. */
export function pause(clock: Clock, milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = (): void => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.after(milliseconds, () => {
      signal?.removeEventListener("abort", abort);
      resolve();
    });
    signal?.addEventListener("abort", abort, { once: true });
  });
}
