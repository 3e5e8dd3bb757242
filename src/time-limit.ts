// Time limit on a promise.

/** Settles as the promise does, or as `late` does after `ms` milliseconds, without waiting for work in progress. */
export async function orAfter<T, Late = undefined>(
  ms: number,
  promise: Promise<T>,
  late: () => Late = () => undefined as Late,
): Promise<T | Late> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  try {
    return await Promise.race([promise, over.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
