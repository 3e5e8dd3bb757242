// Bounded FIFO cache.

/** Far more than are in use at once, and a few megabytes at most. */
const usualMost = 10_000;

/** Keeps a value under a name as the newest; the oldest goes where there would be more than `most`. */
export function keep<T>(memory: Map<string, T>, name: string, value: T, most = usualMost): void {
  memory.delete(name);
  const [oldest] = memory.size >= most ? memory.keys() : [];
  if (oldest !== undefined) memory.delete(oldest);
  memory.set(name, value);
}
