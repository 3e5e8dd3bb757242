// Loads a part of the program on its first use.

/** A part that is loaded once. */
export interface Loaded<T> {
  /**
   * Returns the part, and loads it if necessary. After a failure, the next call tries again. Node remembers a failed
   * `import()`, which only a restart repeats.
   */
  get(): Promise<T>;
  /** Returns the part if it is loaded or being loaded. */
  begun(): Promise<T> | undefined;
}

/** Creates a part from the function that loads it. */
export function loadOnce<T>(load: () => Promise<T>): Loaded<T> {
  let loading: Promise<T> | undefined;
  return {
    get() {
      loading ??= load().catch((error: unknown) => {
        loading = undefined;
        throw error;
      });
      return loading;
    },
    begun: () => loading,
  };
}
