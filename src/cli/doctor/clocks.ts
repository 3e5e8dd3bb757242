// Compares the clocks of this machine, MongoDB, Redis, the identity provider and the service, and reports which one is
// off.
import type { Finding, Verdict } from "./check.ts";
import { fault, note, ok } from "./check.ts";

/** What the other groups read on the way of the clocks that they met. */
export interface Clocks {
  readonly now: () => number;
  /**
   * Notes that a clock reported `reported` (milliseconds of Unix time) in response to a request that was sent at this
   * time of ours, and is completed now. Of a clock that reports whole seconds, half a second is added.
   */
  read(check: string, owner: string, reported: number, sent: number): void;
  /**
   * The same of an instance, which may run on this very machine: it is judged by the others, and does not count with
   * them.
   */
  readInstance: Clocks["read"];
  /** One finding for each clock. */
  findings(): Finding[];
}

interface Reading {
  readonly check: string;
  /** Whose clock, as it begins a sentence. */
  readonly owner: string;
  /** Milliseconds ahead of this machine. */
  readonly ahead: number;
  /** Whether it counts where most are to agree. */
  readonly votes: boolean;
}

/** Whole seconds in a `Date` header, and the way there and back, stay well below. */
const toleranceMs = 5_000;
const setClock =
  "synchronize it with NTP (timedatectl, chronyc tracking). Tokens, sessions and 24-hour keys expire by these clocks.";

export function createClocks(now: () => number): Clocks {
  const own: Reading = { check: "clock.own", owner: "This machine's clock", ahead: 0, votes: true };
  const readings: Reading[] = [own];
  const reader =
    (votes: boolean): Clocks["read"] =>
    (check, owner, reported, sent) => {
      if (!Number.isFinite(reported)) return;
      readings.push({
        check,
        owner,
        ahead: (reported % 1_000 === 0 ? reported + 500 : reported) - (sent + now()) / 2,
        votes,
      });
    };
  return {
    now,
    read: reader(true),
    readInstance: reader(false),
    findings: () =>
      readings.length === 1
        ? [{ check: own.check, ...note("This machine's clock has no other clock to compare with.") }]
        : compare(readings),
  };
}

/** Right is what most agree on; where no most are to be had, only the difference can be known. */
function compare(readings: readonly Reading[]): Finding[] {
  const voters = readings.filter(({ votes }) => votes);
  const agreeing = (with_: Reading): Reading[] =>
    voters.filter(({ ahead }) => Math.abs(ahead - with_.ahead) <= toleranceMs);
  const most = voters.map(agreeing).reduce((best, group) => (group.length > best.length ? group : best));
  const majority = voters.length > 1 && most.length * 2 > voters.length;
  const right = majority ? median(most.map(({ ahead }) => ahead)) : 0;
  const judge = ({ check, owner, ahead }: Reading): Verdict => {
    const off = ahead - right;
    if (Math.abs(off) <= toleranceMs)
      return majority || check !== "clock.own"
        ? ok(`${owner} agrees with the others.`)
        : note(`${owner} is compared with the others below.`);
    const difference = `${duration(Math.abs(off))} ${off > 0 ? "ahead of" : "behind"}`;
    if (majority) return fault(`${owner} is ${difference} most of the clocks.`, `Correct that clock: ${setClock}`);
    return fault(
      `${owner} is ${difference} this machine's clock. The doctor cannot determine which of the two is wrong.`,
      `Check both, and correct the wrong one: ${setClock}`,
    );
  };
  return readings.map((reading) => ({ check: reading.check, ...judge(reading) }));
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

/** "1 h", "2 min 5 s": as much as a user needs to recognise a time zone or a drift. */
function duration(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  const parts = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3_600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [seconds % 60, "s"],
  ] as const;
  return parts
    .filter(([count]) => count > 0)
    .slice(0, 2)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(" ");
}
