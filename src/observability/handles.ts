// Counter and histogram with shared labels, updated through one string key: the client library's label look-up is slow.
import type { Histogram, Registry } from "prom-client";
import { Counter, Histogram as HistogramMetric } from "prom-client";

/** Descriptions of a counter and a histogram that share their labels. */
export interface Measured {
  readonly counter: { readonly name: string; readonly help: string };
  readonly histogram: { readonly name: string; readonly help: string; readonly buckets: number[] };
  readonly labelNames: string[];
}

/** Records events and their durations. */
export interface LabelledMetrics {
  /**
   * Counts one event of `seconds`. `key` identifies the combination of labels. `labels` is called once for each key and
   * returns the values in the order of `labelNames`.
   */
  note(key: string, labels: () => readonly string[], seconds: number): void;
  /** Counts events that have no duration. */
  add(key: string, labels: () => readonly string[], count: number): void;
}

/**
 * The maximum number of combinations, more than the service has. Events of further combinations have the value `other`
 * in every label.
 */
const maxHandles = 5_000;

interface Handle {
  readonly labels: Readonly<Record<string, string>>;
  readonly duration: Histogram.Internal<string>;
  count: number;
}

/** Registers both metrics. The counter gets its values at each scrape. */
export function createHandles(registry: Registry, { counter, histogram, labelNames }: Measured): LabelledMetrics {
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

  const handleOf = (key: string, labels: () => readonly string[]): Handle =>
    known.get(key) ?? (known.size < maxHandles ? make(key, labels()) : other());

  return {
    note(key, labels, seconds) {
      const handle = handleOf(key, labels);
      handle.count += 1;
      handle.duration.observe(seconds);
    },
    add(key, labels, count) {
      handleOf(key, labels).count += count;
    },
  };
}
