// Compares the clocks of MongoDB, Redis, the identity provider and the service with this machine's.
import type { Finding, Verdict } from "./check.ts";
import { fault, note, ok } from "./check.ts";

/** Compares clocks with this machine's. */
export interface Clocks {
  readonly now: () => number;
  /**
   * Records that a clock reported `reported` (milliseconds of Unix time) in response to a request. `sent` is the local
   * time when the request was sent. Call this as soon as the response has arrived. Adds half a second if the clock
   * reports whole seconds. If `reported` is not a number, the clock is reported as not compared.
   */
  read(check: string, owner: string, reported: number, sent: number): void;
  /** Returns one finding for each clock. */
  findings(): Finding[];
}

/**
 * The maximum difference of clocks that agree. Whole seconds in a `Date` header, and the round trip, stay well below
 * it.
 */
const toleranceMs = 5_000;
const setClock =
  "synchronize it with NTP (timedatectl, chronyc tracking). Tokens, sessions and 24-hour keys expire by these clocks.";

/** Creates the comparison. `now` is this machine's clock. */
export function createClocks(now: () => number): Clocks {
  const findings: Finding[] = [];
  return {
    now,
    read(check, owner, reported, sent) {
      const exact = reported % 1_000 === 0 ? reported + 500 : reported;
      findings.push({ check, ...verdictOn(owner, exact - (sent + now()) / 2) });
    },
    findings: () => findings,
  };
}

/** Returns the verdict on a clock that is ahead of this machine's by so many milliseconds. */
function verdictOn(owner: string, ahead: number): Verdict {
  if (!Number.isFinite(ahead))
    return note(
      `${owner} is not compared, because no response shows its time (Date).`,
      `Compare it yourself, and ${setClock}`,
    );
  if (Math.abs(ahead) <= toleranceMs) return ok(`${owner} agrees with this machine's.`);
  return fault(
    `${owner} is ${duration(Math.abs(ahead))} ${ahead > 0 ? "ahead of" : "behind"} this machine's clock.`,
    `Find out which of the two is wrong, and ${setClock}`,
  );
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
