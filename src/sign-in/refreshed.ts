// Stale-while-revalidate cache for one value, such as the metadata of the identity provider.

/**
 * Gives the thing, making it when it is first requested. Once it is older than `ageMs` it is made again beside those
 * who request it, one making at a time: while that fails, they get the old one. Rejects only while there is none.
 */
export function refreshed<T>(ageMs: number, make: () => Promise<T>): () => Promise<T> {
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
