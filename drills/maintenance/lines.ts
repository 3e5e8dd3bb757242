// Reads the log lines of failed requests: their causes, and those without a cause.

/** The lines of all instances. */
export interface Lines {
  hear(line: string): void;
  /** Requests that the service failed. */
  failed(): number;
  /** How many there are of each cause: `deadline: 3, lease: 1`. */
  causes(): string;
  /** Those without a cause. */
  unexplained(): readonly string[];
}

interface Line {
  readonly msg?: string;
  readonly status?: number;
  readonly code?: string;
  readonly cause?: string;
}

/** Over gRPC the HTTP status is 200, whatever happened. */
const failures: ReadonlySet<unknown> = new Set(["unavailable", "internal", "unknown", "data_loss"]);

export function readLines(): Lines {
  const causes = new Map<string, number>();
  const unexplained: string[] = [];
  return {
    hear(text) {
      const { msg, status = 0, code, cause } = JSON.parse(text) as Line;
      if (msg !== "request" || (status < 500 && !failures.has(code))) return;
      if (cause === undefined) unexplained.push(text);
      causes.set(cause ?? "none", (causes.get(cause ?? "none") ?? 0) + 1);
    },
    failed: () => [...causes.values()].reduce((sum, count) => sum + count, 0),
    causes: () =>
      [...causes]
        .sort(([, a], [, b]) => b - a)
        .map(([cause, count]) => `${cause}: ${count}`)
        .join(", "),
    unexplained: () => unexplained,
  };
}
