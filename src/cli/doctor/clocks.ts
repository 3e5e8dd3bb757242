// Compares the clocks of this machine, MongoDB, Redis, the identity provider and the service, and reports wrong ones.
import type { Finding, Verdict } from "./check.ts";
import { fault, note, ok } from "./check.ts";

/** The clock readings of the other groups of checks. */
export interface Clocks {
  readonly now: () => number;
  /**
   * Records that a clock reported `reported` (milliseconds of Unix time) in response to a request. `sent` is the local
   * time when the request was sent. Call this as soon as the response has arrived. Adds half a second if the clock
   * reports whole seconds. If `reported` is not a number, the clock is reported as not compared.
   */
  read(check: string, owner: string, reported: number, sent: number): void;
  /**
   * Records the clock of an instance, which may run on this machine. The clock is compared with the majority, but does
   * not count towards it.
   */
  readInstance: Clocks["read"];
  /** Returns one finding for each clock. */
  findings(): Finding[];
}

interface Reading {
  readonly check: string;
  /** The clock's name, as the beginning of a sentence. */
  readonly owner: string;
  /** How far the clock is ahead of this machine's, in milliseconds. */
  readonly ahead: number;
  /** Whether the clock counts towards a majority. */
  readonly votes: boolean;
}

/**
 * The maximum difference of clocks that agree. Whole seconds in a `Date` header, and the round trip, stay well below
 * it.
 */
const toleranceMs = 5_000;
const setClock =
  "synchronize it with NTP (timedatectl, chronyc tracking). Tokens, sessions and 24-hour keys expire by these clocks.";

export function createClocks(now: () => number): Clocks {
  const own: Reading = { check: "clock.own", owner: "This machine's clock", ahead: 0, votes: true };
  const readings: Reading[] = [own];
  const unread: Finding[] = [];
  const reader =
    (votes: boolean): Clocks["read"] =>
    (check, owner, reported, sent) => {
      if (!Number.isFinite(reported))
        return void unread.push({
          check,
          ...note(
            `${owner} is not compared, because no response shows its time (Date).`,
            `Compare it yourself, and ${setClock}`,
          ),
        });
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
    findings: () => [
      ...(readings.length === 1
        ? [{ check: own.check, ...note("This machine's clock has no other clock to compare with.") }]
        : compare(readings)),
      ...unread,
    ],
  };
}

/** Compares the clocks with the time of the majority. Without a majority, only reports the differences. */
function compare(readings: readonly Reading[]): Finding[] {
  const voters = readings.filter(({ votes }) => votes);
  const agreeing = (with_: Reading): Reading[] =>
    voters.filter(({ ahead }) => Math.abs(ahead - with_.ahead) <= toleranceMs);
  const largest = voters.map(agreeing).reduce((best, group) => (group.length > best.length ? group : best));
  const majority = voters.length > 1 && largest.length * 2 > voters.length;
  const right = majority ? median(largest.map(({ ahead }) => ahead)) : 0;
  const verdictOf = ({ check, owner, ahead }: Reading): Verdict => {
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
  return readings.map((reading) => ({ check: reading.check, ...verdictOf(reading) }));
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

/** Formats a duration such as "1 h" or "2 min 5 s": enough to recognize a time zone or a drift. */
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
