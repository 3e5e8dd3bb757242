// Parser of dates and date-times in requests (contract §2.11; RFC 3339 §5.6), with a calendar check that Date lacks.

/**
 * The first and the last millisecond since 1970 that a date or instant covers. An instant between two milliseconds
 * covers none.
 */
export interface Instant {
  readonly first: number;
  readonly last: number;
}

const form = /^(\d{4})-(\d{2})-(\d{2})(?:[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?([Zz]|[+-]\d{2}:\d{2}))?$/;
const dayMs = 86_400_000;

/**
 * Parses a `full-date` (the whole UTC day) or a `date-time` with an offset (one millisecond). For an instant between
 * two milliseconds, `first` is the later and `last` the earlier one. Returns undefined for anything else, and for a
 * date or time that does not exist (30 February, 24:00, second 60).
 */
export function parseInstant(text: string): Instant | undefined {
  const parts = form.exec(text);
  if (parts === null) return undefined;
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map((part) => Number(part ?? 0)) as SixNumbers;
  // Date.UTC reads the years 0 to 99 as 1900 to 1999.
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  const offset = parts[8];
  if (offset === undefined) return { first: date.getTime(), last: date.getTime() + dayMs - 1 };
  const offsetMinutes = parseOffset(offset);
  if (hour > 23 || minute > 59 || second > 59 || offsetMinutes === undefined) return undefined;
  const fraction = parts[7] ?? "";
  const ms = Number(fraction.slice(0, 3).padEnd(3, "0"));
  const last = date.getTime() + ((hour * 60 + minute - offsetMinutes) * 60 + second) * 1000 + ms;
  return { first: /[1-9]/.test(fraction.slice(3)) ? last + 1 : last, last };
}

/** Returns the bounds of a period, in milliseconds since 1970. The texts are valid instants, or undefined. */
export function periodOf(
  from: string | undefined,
  to: string | undefined,
): { readonly first: number | undefined; readonly last: number | undefined } {
  return {
    first: from === undefined ? undefined : parseInstant(from)?.first,
    last: to === undefined ? undefined : parseInstant(to)?.last,
  };
}

type SixNumbers = [number, number, number, number, number, number];

function parseOffset(text: string): number | undefined {
  if (text.length === 1) return 0;
  const hours = Number(text.slice(1, 3));
  const minutes = Number(text.slice(4, 6));
  if (hours > 23 || minutes > 59) return undefined;
  return (text.startsWith("-") ? -1 : 1) * (hours * 60 + minutes);
}
