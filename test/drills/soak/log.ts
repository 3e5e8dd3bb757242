// Collects the error lines of the instances and separates those that a fault explains.

/** The log lines of all instances. */
export interface Log {
  add(line: string): void;
  /** The number of lines about MongoDB or the provider being unavailable. */
  explained(): number;
  /** All other lines: internal errors, unhandled rejections, warnings of Node. */
  unexpected(): string[];
}

export function logOf(): Log {
  const others: string[] = [];
  let explained = 0;
  return {
    add(line) {
      if (line.includes('"reason":"UNAVAILABLE"')) explained += 1;
      else others.push(`an instance logged: ${line.slice(0, 300)}`);
    },
    explained: () => explained,
    unexpected: () => [...others],
  };
}
