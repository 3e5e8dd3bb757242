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
  const over = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  try {
    return await Promise.race([promise, over.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
