// Dates of the user: a date without a time is a day in the user's time zone, and a time without an offset is one there,
// where the access token says the time zone.
import { parseInstant } from "../text/instant.ts";
import type { Arguments } from "./tool.ts";

/** The arguments that are dates, and whether they are the end of a day. */
const isEnd: Readonly<Record<string, boolean>> = { from: false, to: true, last_session_before: false };
/** A day, a month or a year. */
const calendarDate = /^(\d{4})(?:([-/.])(\d{1,2})(?:\2(\d{1,2}))?)?$/;
/** The hyphens, dashes and minus that models write in dates. */
const dashes = /[\u2010-\u2015\u2212]/g;
/** A date-time as models also write it: with a blank, without seconds or an offset, or with an offset of digits alone. */
const dateTime =
  /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2}(?:\.\d+)?)? ?(?:(Z|UTC|GMT)|([+-]\d{2})(?::?(\d{2}))?)?$/i;
const [hourMs, dayMs] = [3_600_000, 86_400_000];
/** Earlier and later days stay days in UTC: their local ends can have years that RFC 3339 cannot write. */
const [firstDay, lastDay] = [Date.UTC(1000, 0, 2), Date.UTC(9999, 11, 30)];

/**
 * Returns the arguments with each date-time in the form of RFC 3339, and each day, month or year as the instant at which
 * it begins or ends in the time zone. Without a time zone, a date remains one, and a time without an offset is in UTC.
 */
export function inLocalDays(given: Arguments, timeZone: string | undefined): Arguments {
  const dates = Object.entries(given).flatMap(([name, value]) => {
    const end = isEnd[name];
    if (end === undefined || typeof value !== "string") return [];
    const text = value.trim().replace(dashes, "-");
    const day = dayOf(text, end);
    return [[name, day === undefined ? inLocalTime(text, end, timeZone) : inLocalDay(day, end, timeZone)] as const];
  });
  return dates.length === 0 ? given : { ...given, ...Object.fromEntries(dates) };
}

/** Returns the day that a date means, or at which a month or year begins or ends; undefined for any other text. */
function dayOf(text: string, end: boolean): string | undefined {
  const [, year, , month = end ? "12" : "1", day] = calendarDate.exec(text) ?? [];
  if (year === undefined) return undefined;
  const last = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  return [year, month.padStart(2, "0"), (day ?? String(end ? last : 1)).padStart(2, "0")].join("-");
}

function inLocalDay(text: string, end: boolean, timeZone: string | undefined): string {
  const day = parseInstant(text)?.first;
  if (timeZone === undefined || day === undefined || day < firstDay || day > lastDay) return text;
  return new Date(end ? instantOf(day + dayMs, timeZone) - 1 : instantOf(day, timeZone)).toISOString();
}

/** Returns the date-time as RFC 3339 writes it; any other text as it is. */
function inLocalTime(text: string, end: boolean, timeZone: string | undefined): string {
  const [, day = "", time = "", seconds = ":00", utc, hours, minutes = "00"] = dateTime.exec(text) ?? [];
  if (day === "") return text;
  const written = `${day}T${time}${seconds}`;
  if (hours !== undefined) return `${written}${hours}:${minutes}`;
  const instant = parseInstant(`${written}Z`)?.[end ? "last" : "first"];
  if (utc !== undefined || timeZone === undefined || instant === undefined || instant < firstDay || instant > lastDay)
    return `${written}Z`;
  const ms = instant % 1_000;
  return new Date(instantOf(instant - ms, timeZone) + ms).toISOString();
}

/** Returns the instant at which the clocks of a time zone show what those of UTC show at `time`, a whole second. */
function instantOf(time: number, timeZone: string): number {
  const guess = time - offsetAt(time, timeZone);
  const instant = time - offsetAt(guess, timeZone);
  // Clocks that go forward never show some times: they are an hour later.
  return instant + offsetAt(instant, timeZone) < time ? instant + hourMs : instant;
}

/** Returns how far the clocks of a time zone are ahead of UTC at a whole second, in milliseconds. */
function offsetAt(instant: number, timeZone: string): number {
  // Swedish has the form of RFC 3339, such as 2026-01-31 09:30:00.
  const local = new Date(instant).toLocaleString("sv-SE", { timeZone });
  return Date.parse(`${local.replace(" ", "T")}Z`) - instant;
}
