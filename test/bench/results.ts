// What the bench measures, and the figures that it derives.
import type { PeerName } from "./peers/peers.ts";

/** The measurements of one load on one side. */
export interface Sample {
  readonly rate: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU time per request in microseconds: of the service, of all members of the replica set, and of Redis. */
  readonly serviceUs: number;
  readonly mongodUs: number;
  readonly redisUs: number;
}

/** A figure of a sample. `totalUs` is the CPU time of the service, mongod and Redis together. */
export type Figure = keyof Sample | "totalUs";

/** `own` is compared with `other`. */
export type Side = "own" | "other";
export type Sides<T> = Readonly<Record<Side, T>>;

/** The rounds of a pair between starting and stopping both sides. */
export interface Run {
  /** Each round loads both sides once. */
  readonly rounds: readonly Sides<Sample>[];
  /** Failed requests, including the warm-up. */
  readonly failed: Sides<number>;
  /** Resident megabytes after the last round. */
  readonly memoryMb: Sides<number>;
}

/** A comparison of two subjects of a line. */
export interface Pair {
  readonly line: string;
  readonly lineTitle: string;
  /** The subjects' names and titles. */
  readonly own: Named;
  readonly other: Named;
  readonly runs: readonly Run[];
}

interface Named {
  readonly name: string;
  readonly title: string;
}

/** A class of searches in accounts of three sizes, smallest first. */
export interface SearchRow {
  readonly list: "notes" | "contacts";
  readonly title: string;
  /** Whether it has the same number of hits at each size, so that times are comparable. */
  readonly comparable: boolean;
  readonly words: "one" | "several";
  readonly sizes: readonly SearchSize[];
}

/** The searches of a class in one account. */
export interface SearchSize {
  readonly records: number;
  /** The median number of hits on the first page. */
  readonly hits: number;
  readonly p50Ms: readonly number[];
  /** The maximum that a search examined. */
  readonly keys: number;
  readonly documents: number;
  readonly failed: number;
}

export interface Results {
  /** The version, such as `v24.21.0`. */
  readonly node: string;
  readonly pairs: Pair[];
  /** Milliseconds to the first response in each round. */
  readonly starts: Partial<Record<PeerName, number[]>>;
  readonly searches: SearchRow[];
  /** Resident megabytes after many requests. */
  memory: { readonly requests: number; readonly mb: Partial<Record<PeerName, number>> } | undefined;
}

/** Figures for which more is better. */
const gains: ReadonlySet<Figure> = new Set(["rate"]);

/** If two runs of a pair differ by more than this factor, it is measured again. */
export const tolerance = 1.15;

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? NaN)
    : ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2;
}

export function figureOf(sample: Sample, figure: Figure): number {
  return figure === "totalUs" ? sample.serviceUs + sample.mongodUs + sample.redisUs : sample[figure];
}

/** The ratio own / other of a figure for each round in which both have one. */
export function ratios(rounds: Run["rounds"], figure: Figure): number[] {
  // CPU time has a resolution of 10 ms, so a round may have measured none.
  return rounds
    .map(({ own, other }) => figureOf(own, figure) / figureOf(other, figure))
    .filter((ratio) => Number.isFinite(ratio) && ratio > 0);
}

/** How many times better `own` is in each round; above 1, it is better, whatever the figure. */
export function timesAsGood(rounds: Run["rounds"], figure: Figure): number[] {
  return ratios(rounds, figure).map((ratio) => (gains.has(figure) ? ratio : 1 / ratio));
}

/** Whether the CPU time of two runs, with or without the databases, differs by more than `tolerance`. */
function differ(one: Run, another: Run): boolean {
  return (["serviceUs", "totalUs"] as const).some((figure) => {
    const [a, b] = [median(ratios(one.rounds, figure)), median(ratios(another.rounds, figure))];
    return Math.max(a / b, b / a) > tolerance;
  });
}

/** Whether the last two runs agree. A single run always does. */
export function isAgreed({ runs }: Pick<Pair, "runs">): boolean {
  const [last, before] = [runs.at(-1), runs.at(-2)];
  return last === undefined || before === undefined || !differ(before, last);
}

/** The rounds that count: those of the last two runs if they agree, otherwise all. */
export function roundsOf(pair: Pick<Pair, "runs">): Run["rounds"] {
  return (isAgreed(pair) ? pair.runs.slice(-2) : pair.runs).flatMap(({ rounds }) => rounds);
}

/** Formats the median with the minimum and maximum. */
export function spread(values: readonly number[], digits: number): string {
  if (values.length === 0) return "too little to measure";
  const [middle, min, max] = [median(values), Math.min(...values), Math.max(...values)].map((value) =>
    value.toFixed(digits),
  );
  return `${middle} (${min} to ${max})`;
}

/** The ratio of the largest account's time to the smallest's: the median of the rounds. */
export function growth({ sizes }: SearchRow): number {
  const [smallest, largest] = [sizes[0]?.p50Ms ?? [], sizes.at(-1)?.p50Ms ?? []];
  return median(largest.map((ms, at) => ms / (smallest[at] ?? NaN)));
}
