// Days of the user: a date without a time is a day in the user's time zone, where the access token says it.
import { parseInstant } from "../text/instant.ts";
import type { Arguments } from "./tool.ts";

/** The arguments that are dates, and whether they are the end of a day. */
const isEnd: Readonly<Record<string, boolean>> = { from: false, to: true, last_session_before: false };
const date = /^\d{4}-\d{2}-\d{2}$/;
const [hourMs, dayMs] = [3_600_000, 86_400_000];
/** Earlier and later days stay days in UTC: their local ends can have years that RFC 3339 cannot write. */
const [firstDay, lastDay] = [Date.UTC(1000, 0, 2), Date.UTC(9999, 11, 30)];

/** Returns the arguments with each date as the instant at which its day begins or ends in the time zone. */
export function inLocalDays(given: Arguments, timeZone: string | undefined): Arguments {
  if (timeZone === undefined) return given;
  const days = Object.entries(given).flatMap(([name, value]) => {
    const end = isEnd[name];
    const day = typeof value === "string" && date.test(value) ? parseInstant(value) : undefined;
    if (end === undefined || day === undefined || day.first < firstDay || day.first > lastDay) return [];
    const instant = end ? beginningOf(day.first + dayMs, timeZone) - 1 : beginningOf(day.first, timeZone);
    return [[name, new Date(instant).toISOString()] as const];
  });
  return days.length === 0 ? given : { ...given, ...Object.fromEntries(days) };
}

/** Returns the instant at which a day begins in a time zone. `day` is the instant at which it begins in UTC. */
function beginningOf(day: number, timeZone: string): number {
  const guess = day - offsetAt(day, timeZone);
  const instant = day - offsetAt(guess, timeZone);
  // Where clocks go forward at midnight, the day begins an hour later.
  return instant + offsetAt(instant, timeZone) < day ? instant + hourMs : instant;
}

/** Returns how far the clocks of a time zone are ahead of UTC at a whole second, in milliseconds. */
function offsetAt(instant: number, timeZone: string): number {
  // Swedish has the form of RFC 3339, such as 2026-01-31 09:30:00.
  const local = new Date(instant).toLocaleString("sv-SE", { timeZone });
  return Date.parse(`${local.replace(" ", "T")}Z`) - instant;
}
