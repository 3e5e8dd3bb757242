// What the bench has measured, and the figures that are made of it.
import type { PeerName } from "./peers/peers.ts";

/** One load of one subject. */
export interface Sample {
  /** Requests a second. */
  readonly rate: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Microseconds of processor time that the service's process took for a request. */
  readonly cpuUs: number;
}

/** One subject of a line, with a sample of each round. */
export interface Row {
  readonly line: string;
  readonly lineTitle: string;
  readonly subject: string;
  readonly title: string;
  readonly samples: Sample[];
  /** Answers that were no success. */
  failed: number;
  /** Megabytes that the process held after the last round. */
  memoryMb: number;
}

/** A class of searches in accounts of three sizes, the smallest first. */
export interface SearchRow {
  readonly list: "notes" | "contacts";
  readonly title: string;
  /** Whether it finds as many at each size, so that its times can be compared. */
  readonly comparable: boolean;
  readonly words: "one" | "several";
  readonly sizes: readonly SearchSize[];
}

/** The searches of a class in one account. */
export interface SearchSize {
  /** Records of the account. */
  readonly records: number;
  /** Median of the first page. */
  readonly hits: number;
  /** p50 of each round. */
  readonly p50Ms: readonly number[];
  /** The most that one of the searches examined. */
  readonly keys: number;
  readonly documents: number;
  /** Answers that were no success. */
  readonly failed: number;
}

/** Everything. */
export interface Results {
  readonly rows: Row[];
  /** Milliseconds to the first answer, of each round. */
  readonly starts: Map<PeerName, number[]>;
  readonly searches: SearchRow[];
}

/** Figures of which more is worse. */
const costs = new Set<keyof Sample>(["p50Ms", "p99Ms", "cpuUs"]);

/** The one in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? NaN)
    : ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2;
}

/**
 * How many times as good one row is as another: the median over the rounds; above 1 it is better, whatever the figure.
 */
export function timesAsGood(row: Row, other: Row, figure: keyof Sample): number {
  const rounds = Math.min(row.samples.length, other.samples.length);
  const ratios = Array.from({ length: rounds }, (_, at) => {
    const [own, theirs] = [(row.samples[at] as Sample)[figure], (other.samples[at] as Sample)[figure]];
    return costs.has(figure) ? theirs / own : own / theirs;
  });
  return median(ratios);
}

/** The largest account's time over the smallest's: the median over the rounds. */
export function growth({ sizes }: SearchRow): number {
  const [smallest, largest] = [sizes[0]?.p50Ms ?? [], sizes.at(-1)?.p50Ms ?? []];
  return median(largest.map((ms, at) => ms / (smallest[at] ?? NaN)));
}
