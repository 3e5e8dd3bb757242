// Ends a stream of responses when its caller disconnects.

/**
 * Passes responses on until the signal aborts, without waiting for work in progress. Retains no response: racing each
 * one against a promise for the whole stream would keep them all in memory.
 */
export async function* untilAborted<T>(signal: AbortSignal, responses: AsyncIterable<T>): AsyncIterable<T> {
  const iterator = responses[Symbol.asyncIterator]();
  let stop: (reason: unknown) => void = () => undefined;
  // The caller has left, so a clean-up that fails concerns nobody. Unhandled, its error would end the process.
  const cleanUp = (): void => void iterator.return?.().catch(() => undefined);
  const onAbort = (): void => {
    stop(signal.reason);
    // A consumer that waits to write the last response never requests another one.
    cleanUp();
  };
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      const next = await new Promise<IteratorResult<T, unknown>>((resolve, reject) => {
        stop = reject;
        iterator.next().then(resolve, reject);
      });
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    cleanUp();
  }
}
