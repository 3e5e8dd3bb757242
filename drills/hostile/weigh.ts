// Sends hard requests and judges each: how long it keeps all others waiting, and how its cost grows with its length.
import type { Case } from "./cases.ts";
import type { Gauge, Taken } from "./gauge.ts";
import type { Status } from "./wire.ts";

/** No request may keep all others waiting for longer at a stretch, in milliseconds. */
export const longestBlockMs = 100;
/**
 * Four times the length may cost this many times as much: a linear cost grows 4 times, a quadratic one 16 times. What
 * lies between is the collecting of garbage, which has to follow a deep structure more than once.
 */
const mostGrowth = 10;
/** Growth is judged from here on: below it the other work of the instance, and its garbage, are as much. */
const judgedMs = 40;
const quarter = 1 / 4;
/** What takes less is not looked at again: other work of the instance comes to as much now and then. */
const noiseMs = 15;
/** The least of so many counts: what else goes on at the same time can only add to it. */
const times = 3;
/** What takes this long is no other work of the instance, and is not looked at again. */
const beyondDoubtMs = 1_000;
/** An encoding that Connect has no code for, a busy database, and a deadline of the caller's own. */
const foreseen = new Set([501, 503, 504]);
/** So many are sent at once, and weighed by themselves where all together take more than they should. */
const together = 6;

/** What came of all cases. */
export interface Weighed {
  readonly count: number;
  readonly worst: readonly { readonly name: string; readonly taken: Taken }[];
  readonly violations: readonly string[];
}

/** When there is no need to look on. */
export interface Limits {
  /** In the time of `performance.now`. */
  readonly untilMs: number;
  /** So many violations are enough. */
  readonly found: number;
}

/** Sends cases until there are no more, or one of the limits is reached. */
export async function weighAll(cases: Iterable<Case>, gauge: Gauge, { untilMs, found }: Limits): Promise<Weighed> {
  const violations: string[] = [];
  const worst: { name: string; taken: Taken }[] = [];
  const statuses = new Map<number, number>();
  let count = 0;
  // What a request takes that is not hard at all; followed, as code that has run often takes less.
  let usualMs = 3;
  let group: Case[] = [];

  async function send(one: Case, share: number): Promise<void> {
    const answered = await attempt(one, share);
    if (answered === undefined) return;
    statuses.set(answered.status, (statuses.get(answered.status) ?? 0) + 1);
    if (answered.status >= 500 && !foreseen.has(answered.status))
      violations.push(`${one.name} was answered ${answered.status}`);
  }
  async function weighGroup(): Promise<void> {
    const { cpuMs, blockMs } = await gauge.during(() => Promise.all(group.map((one) => send(one, 1))));
    count += group.length;
    if (cpuMs > noiseMs / 2 + 2 * usualMs * group.length || blockMs > longestBlockMs / 4) {
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
    if (group.length === together) await weighGroup();
    if (performance.now() > untilMs || violations.length >= found) break;
  }
  if (group.length > 0) await weighGroup();
  const throttled = statuses.get(429) ?? 0;
  if (throttled > count / 50) violations.push(`${throttled} of ${count} were throttled, and so not put to the test`);
  return { count, worst, violations };
}

/** Weighs one case by itself. */
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
  const taken = await least(1, ({ cpuMs }) => cpuMs <= judgedMs);
  if (taken.cpuMs <= judgedMs) return { taken, faults: [] };
  const kept = `${one.name} keeps all others waiting for ${taken.blockMs.toFixed(0)} ms`;
  if (taken.blockMs > beyondDoubtMs) return { taken, faults: [kept] };
  const never = (): boolean => false;
  const [shorter, nothing] = [await least(quarter, never), await least(0, never)];
  const growth = (taken.cpuMs - nothing.cpuMs) / Math.max(0.5, shorter.cpuMs - nothing.cpuMs);
  const grows = growth > mostGrowth && taken.cpuMs - nothing.cpuMs > judgedMs;
  return {
    taken,
    faults: [
      ...(taken.blockMs > longestBlockMs && one.inParts !== true ? [kept] : []),
      ...(grows
        ? [
            `${one.name} costs ${taken.cpuMs.toFixed(0)} ms, ${shorter.cpuMs.toFixed(1)} ms at a quarter of its length`,
          ]
        : []),
    ],
  };
}

/** A connection that is broken over a request is an answer, too. */
function attempt(one: Case, share: number): Promise<Status | undefined> {
  return one.send(share).catch(() => ({ status: 0 }));
}
