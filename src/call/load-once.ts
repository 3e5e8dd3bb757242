// Loads a value on its first use, and again in the background once it is old.

/** A value that is loaded once, such as a part of the program or the metadata of the identity provider. */
export interface Loaded<T> {
  /**
   * Returns the value, and loads it if necessary. After a failure, the next call tries again. Node remembers a failed
   * `import()`, which only a restart repeats. Callers get an old value until it is replaced.
   */
  get(): Promise<T>;
  /** Returns the value if it is loaded or being loaded. */
  begun(): Promise<T> | undefined;
}

/**
 * Creates a value from the function that loads it. Once the value is `maxAgeMs` milliseconds old, a call starts to
 * replace it. There is one attempt at a time.
 */
export function loadOnce<T>(load: () => Promise<T>, maxAgeMs = Infinity): Loaded<T> {
  let loaded: { readonly value: Promise<T>; readonly at: number } | undefined;
  let loading: Promise<T> | undefined;
  const begin = (): Promise<T> => {
    loading ??= load()
      .then((value) => {
        loaded = { value: Promise.resolve(value), at: performance.now() };
        return value;
      })
      .finally(() => (loading = undefined));
    return loading;
  };
  return {
    get() {
      if (loaded === undefined) return begin();
      if (performance.now() - loaded.at >= maxAgeMs) begin().catch(() => undefined);
      return loaded.value;
    },
    begun: () => loaded?.value ?? loading,
  };
}
