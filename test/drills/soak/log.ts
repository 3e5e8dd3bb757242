// Reads the error lines of the instances, and separates those that a fault explains.

/** The lines of all instances. */
export interface Log {
  add(line: string): void;
  /** Lines that say that MongoDB or the provider could not be had. */
  explained(): number;
  /** All others, which nobody expects: a fault of ours, a rejection that nobody handled, a warning of Node. */
  unexpected(): string[];
}

export function logOf(): Log {
  const others: string[] = [];
  let explained = 0;
  return {
    add(line) {
      if (line.includes('"reason":"UNAVAILABLE"')) explained += 1;
      else others.push(`an instance wrote: ${line.slice(0, 300)}`);
    },
    explained: () => explained,
    unexpected: () => [...others],
  };
}
