// A count and a duration for each combination of labels, looked up by one key: the client's own way with labels is
// slow.
import type { Histogram, Registry } from "prom-client";
import { Counter, Histogram as HistogramMetric } from "prom-client";

/** The two metrics to make; both have the same labels. */
export interface Measured {
  readonly counter: { readonly name: string; readonly help: string };
  readonly histogram: { readonly name: string; readonly help: string; readonly buckets: number[] };
  readonly labelNames: string[];
}

/** Notes one more of something, and how long it took. */
export interface Handles {
  /** `key` names the combination; `labels` are requested once for each, in the order of the metrics' own names. */
  note(key: string, labels: () => readonly string[], seconds: number): void;
}

/** More combinations than a service of this size has: beyond them the labels of what is new are all `other`. */
const most = 5_000;

interface Handle {
  readonly labels: Readonly<Record<string, string>>;
  readonly duration: Histogram.Internal<string>;
  count: number;
}

/** Makes both metrics in the registry. The counts are handed to it when they are requested. */
export function createHandles(registry: Registry, { counter, histogram, labelNames }: Measured): Handles {
  const known = new Map<string, Handle>();
  const registers = [registry];
  const durations = new HistogramMetric({ ...histogram, labelNames, registers });
  new Counter({
    ...counter,
    labelNames,
    registers,
    collect() {
      this.reset();
      for (const { labels, count } of known.values()) this.inc(labels, count);
    },
  });

  function make(key: string, values: readonly string[]): Handle {
    const labels = Object.fromEntries(labelNames.map((name, index) => [name, values[index] ?? ""]));
    const handle = { labels, duration: durations.labels(labels), count: 0 };
    known.set(key, handle);
    return handle;
  }
  const other = (): Handle =>
    known.get("other") ??
    make(
      "other",
      labelNames.map(() => "other"),
    );

  return {
    note(key, labels, seconds) {
      const handle = known.get(key) ?? (known.size < most ? make(key, labels()) : other());
      handle.count += 1;
      handle.duration.observe(seconds);
    },
  };
}
