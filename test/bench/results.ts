// What the bench measures, and the figures that are made of it.
import type { PeerName } from "./peers/peers.ts";

/** One load of one side. */
export interface Sample {
  /** Requests a second. */
  readonly rate: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Microseconds of processor time for each request: of the service, of all members of the set, and of Redis. */
  readonly serviceUs: number;
  readonly mongodUs: number;
  readonly redisUs: number;
}

/** A figure of a sample; `totalUs` is the processor time of the service, mongod and Redis together. */
export type Figure = keyof Sample | "totalUs";

/** `own` is compared with `other`. */
export type Side = "own" | "other";
export type Sides<T> = Readonly<Record<Side, T>>;

/** Some rounds of a pair, between the start and the stop of both sides. */
export interface Run {
  /** In each, both sides are loaded once. */
  readonly rounds: readonly Sides<Sample>[];
  /** Responses that were no success, warm-up included. */
  readonly failed: Sides<number>;
  /** Resident megabytes after the last round. */
  readonly memoryMb: Sides<number>;
}

/** Two subjects of a line, compared. */
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
  /** Responses that were no success. */
  readonly failed: number;
}

/** Everything that was measured on one Node. */
export interface Results {
  /** Its version, such as `v24.21.0`. */
  readonly node: string;
  readonly pairs: Pair[];
  /** Milliseconds to the first response, of each round. */
  readonly starts: Partial<Record<PeerName, number[]>>;
  readonly searches: SearchRow[];
  /** Resident megabytes after many requests. */
  memory: { readonly requests: number; readonly mb: Partial<Record<PeerName, number>> } | undefined;
}

/** Figures of which more is better. */
const gains: ReadonlySet<Figure> = new Set(["rate"]);

/** Beyond this, two runs of a pair differ, and it is measured again. */
export const tolerance = 1.15;

/** The one in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? NaN)
    : ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2;
}

/** A figure of a sample. */
export function figureOf(sample: Sample, figure: Figure): number {
  return figure === "totalUs" ? sample.serviceUs + sample.mongodUs + sample.redisUs : sample[figure];
}

/** The figure of `own` over that of `other`, for each round in which both had one. */
export function ratios(rounds: Run["rounds"], figure: Figure): number[] {
  // A clock tick of processor time is 10 ms: a round may have seen none of it.
  return rounds
    .map(({ own, other }) => figureOf(own, figure) / figureOf(other, figure))
    .filter((ratio) => Number.isFinite(ratio) && ratio > 0);
}

/** How many times as good `own` is, for each round; above 1 it is better, whatever the figure. */
export function timesAsGood(rounds: Run["rounds"], figure: Figure): number[] {
  return ratios(rounds, figure).map((ratio) => (gains.has(figure) ? ratio : 1 / ratio));
}

/** Whether the processor time of two runs, of the service or of all, differs by more than `tolerance`. */
function differ(one: Run, another: Run): boolean {
  return (["serviceUs", "totalUs"] as const).some((figure) => {
    const [a, b] = [median(ratios(one.rounds, figure)), median(ratios(another.rounds, figure))];
    return Math.max(a / b, b / a) > tolerance;
  });
}

/** Whether the last two runs agree. One run has nothing to agree with. */
export function isAgreed({ runs }: Pick<Pair, "runs">): boolean {
  const [last, before] = [runs.at(-1), runs.at(-2)];
  return last === undefined || before === undefined || !differ(before, last);
}

/** The rounds that count: those of the last two runs where they agree, otherwise all. */
export function roundsOf(pair: Pick<Pair, "runs">): Run["rounds"] {
  return (isAgreed(pair) ? pair.runs.slice(-2) : pair.runs).flatMap(({ rounds }) => rounds);
}

/** The median with the smallest and the largest value. */
export function spread(values: readonly number[], digits: number): string {
  if (values.length === 0) return "too little to tell";
  const [middle, min, max] = [median(values), Math.min(...values), Math.max(...values)].map((value) =>
    value.toFixed(digits),
  );
  return `${middle} (${min} to ${max})`;
}

/** The largest account's time over the smallest's: the median over the rounds. */
export function growth({ sizes }: SearchRow): number {
  const [smallest, largest] = [sizes[0]?.p50Ms ?? [], sizes.at(-1)?.p50Ms ?? []];
  return median(largest.map((ms, at) => ms / (smallest[at] ?? NaN)));
}
