// Ends a stream of responses when its caller has gone.

/**
 * Passes the responses on until the signal aborts, without waiting for work in progress. Holds none that was passed on:
 * a promise that lasts as long as the stream would, if each response raced with it.
 */
export async function* untilAborted<T>(signal: AbortSignal, responses: AsyncIterable<T>): AsyncIterable<T> {
  const iterator = responses[Symbol.asyncIterator]();
  let stop: (reason: unknown) => void = () => undefined;
  const onAbort = (): void => stop(signal.reason);
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
    void iterator.return?.();
  }
}
