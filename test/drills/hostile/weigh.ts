// Sends expensive requests and checks how long each blocks and how its cost grows.
import type { Case } from "./cases.ts";
import type { Gauge, Taken } from "./gauge.ts";
import type { Status } from "./wire.ts";

/** How long a request may block all others, in milliseconds. */
export const maxBlockMs = 100;
/**
 * The maximum growth of the cost for 4 times the length. A linear cost grows 4 times, a quadratic one 16 times. The
 * difference leaves room for garbage collection, which traverses deep structures more than once.
 */
const maxGrowth = 10;
/** Growth is only checked above this cost, because unrelated work of the instance can cost as much. */
const checkedMs = 40;
const quarter = 1 / 4;
/** A cheaper group is not measured again, because unrelated work occasionally costs as much. */
const noiseMs = 15;
/** Measurements per case. The minimum counts, because unrelated work can only add to it. */
const times = 5;
/** A longer block cannot be unrelated work, so it is measured at most twice. */
const beyondDoubtMs = 1_000;
/** An encoding that Connect has no code for, a busy database, and the client's deadline. */
const expectedErrors = new Set([501, 503, 504]);
/** Cases per group. An expensive group is measured again case by case. */
const groupSize = 6;

export interface Weighed {
  readonly count: number;
  readonly worst: readonly { readonly name: string; readonly taken: Taken }[];
  readonly violations: readonly string[];
}

/** When to stop. */
export interface Limits {
  /** A `performance.now` time. */
  readonly untilMs: number;
  /** Stops after this many violations. */
  readonly found: number;
}

/** Sends cases until none are left or a limit is reached. */
export async function weighAll(cases: Iterable<Case>, gauge: Gauge, { untilMs, found }: Limits): Promise<Weighed> {
  const violations: string[] = [];
  const worst: { name: string; taken: Taken }[] = [];
  const statuses = new Map<number, number>();
  let count = 0;
  // A moving average of the cost of a cheap request, because warm code is faster.
  let usualMs = 3;
  let group: Case[] = [];

  async function send(one: Case, share: number): Promise<void> {
    const completed = await attempt(one, share);
    if (completed === undefined) return;
    statuses.set(completed.status, (statuses.get(completed.status) ?? 0) + 1);
    if (completed.status >= 500 && !expectedErrors.has(completed.status))
      violations.push(`${one.name} got ${completed.status}`);
  }
  async function weighGroup(): Promise<void> {
    const { cpuMs, blockMs } = await gauge.during(() => Promise.all(group.map((one) => send(one, 1))));
    count += group.length;
    if (cpuMs > noiseMs / 2 + 2 * usualMs * group.length || blockMs > maxBlockMs / 4) {
      for (const one of group) {
        const { taken, faults } = await weigh(one, gauge, send);
        worst.push({ name: one.name, taken });
        violations.push(...faults);
        if (violations.length >= found) break;
      }
      worst.sort((a, b) => b.taken.blockMs - a.taken.blockMs).splice(5);
    } else usualMs = Math.max(0.5, 0.95 * usualMs + (0.05 * cpuMs) / group.length);
    group = [];
  }

  for (const one of cases) {
    group.push(one);
    if (group.length === groupSize) await weighGroup();
    if (performance.now() > untilMs || violations.length >= found) break;
  }
  if (group.length > 0) await weighGroup();
  const throttled = statuses.get(429) ?? 0;
  if (throttled > count / 50) violations.push(`${throttled} of ${count} were throttled, so they tested nothing`);
  if (count > 0 && ![...statuses.keys()].some((status) => status > 0)) violations.push("no request got a response");
  return { count, worst, violations };
}

/** Measures and checks one case. */
export async function weigh(
  one: Case,
  gauge: Gauge,
  send: (one: Case, share: number) => Promise<unknown> = attempt,
): Promise<{ readonly taken: Taken; readonly faults: readonly string[] }> {
  const least = async (share: number, enough: (taken: Taken) => boolean): Promise<Taken> => {
    let taken: Taken = { cpuMs: Infinity, blockMs: Infinity };
    for (let turn = 0; turn < times && !enough(taken) && !(taken.blockMs > beyondDoubtMs && turn > 0); turn++) {
      const now = await gauge.during(() => send(one, share));
      taken = { cpuMs: Math.min(taken.cpuMs, now.cpuMs), blockMs: Math.min(taken.blockMs, now.blockMs) };
    }
    return taken;
  };
  // For a request of fixed length, only the block is checked, and further measurements can only lower the minimum.
  const enough = ({ cpuMs, blockMs }: Taken): boolean =>
    cpuMs <= checkedMs || (one.isFixed === true && blockMs <= maxBlockMs);
  const taken = await least(1, enough);
  if (taken.cpuMs <= checkedMs) return { taken, faults: [] };
  const kept = `${one.name} keeps all others waiting for ${taken.blockMs.toFixed(0)} ms`;
  if (taken.blockMs > beyondDoubtMs) return { taken, faults: [kept] };
  if (one.isFixed === true) return { taken, faults: taken.blockMs > maxBlockMs ? [kept] : [] };
  const never = (): boolean => false;
  const [shorter, nothing] = [await least(quarter, never), await least(0, never)];
  const growth = (taken.cpuMs - nothing.cpuMs) / Math.max(0.5, shorter.cpuMs - nothing.cpuMs);
  const grows = growth > maxGrowth && taken.cpuMs - nothing.cpuMs > checkedMs;
  return {
    taken,
    faults: [
      ...(taken.blockMs > maxBlockMs && one.inParts !== true ? [kept] : []),
      ...(grows
        ? [`${one.name} costs ${taken.cpuMs.toFixed(0)} ms, ${shorter.cpuMs.toFixed(1)} ms at a quarter of its length`]
        : []),
    ],
  };
}

/** A closed connection counts as status 0. */
function attempt(one: Case, share: number): Promise<Status | undefined> {
  return one.send(share).catch(() => ({ status: 0 }));
}
