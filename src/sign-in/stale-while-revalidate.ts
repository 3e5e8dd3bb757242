// Stale-while-revalidate cache for one value, such as the metadata of the identity provider.

/**
 * Returns a function that returns the cached value, and creates it on the first call. Once the value is `ageMs`
 * milliseconds old, a call starts to replace it in the background. There is one attempt at a time, and callers get the
 * old value until one succeeds. Rejects only if there is no value yet.
 */
export function staleWhileRevalidate<T>(ageMs: number, make: () => Promise<T>): () => Promise<T> {
  let kept: { readonly value: T; readonly at: number } | undefined;
  let making: Promise<T> | undefined;
  const remake = (): Promise<T> => {
    making ??= make()
      .then((value) => {
        kept = { value, at: performance.now() };
        return value;
      })
      .finally(() => (making = undefined));
    return making;
  };
  return async () => {
    if (kept === undefined) return remake();
    if (performance.now() - kept.at >= ageMs) remake().catch(() => undefined);
    return kept.value;
  };
}
