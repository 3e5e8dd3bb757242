// Time limit on a promise.

/**
 * Returns the result of the promise, or that of `late` if it takes longer than `ms` milliseconds. Work in progress is
 * not awaited.
 */
export async function withTimeout<T, Late = undefined>(
  ms: number,
  promise: Promise<T>,
  late: () => Late = () => undefined as Late,
): Promise<T | Late> {
  let timer: NodeJS.Timeout | undefined;
  // From 24 on, Node warns of a time that has already passed.
  const over = new Promise<void>((resolve) => (timer = setTimeout(resolve, Math.max(0, ms))));
  try {
    return await Promise.race([promise, over.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
