// Bounded FIFO cache.

/** The default maximum of entries: far more than are in use at once, and a few megabytes at most. */
const usualMaxSize = 10_000;

/** Stores a value as the newest entry. Removes the oldest entry if there would be more than `maxSize`. */
export function setBounded<T>(memory: Map<string, T>, name: string, value: T, maxSize = usualMaxSize): void {
  memory.delete(name);
  if (memory.size >= maxSize) {
    const [oldest = ""] = memory.keys();
    memory.delete(oldest);
  }
  memory.set(name, value);
}
