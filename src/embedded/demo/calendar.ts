// Days counted from today, so that the demo always looks like the past year.
import type { Random } from "./random.ts";
import { between } from "./random.ts";

const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;
const months = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

/** The calendar of one day: day 0 is that day in UTC, -1 the one before. Instants are milliseconds since 1970. */
export interface Calendar {
  /** The first instant of day 0; whatever has happened lies before it. */
  readonly today: number;
  /** The instant that many minutes into a day. */
  at(day: number, minutes: number): number;
  /** The day of an instant. */
  dayOf(instant: number): number;
  /** The day itself, or the working day next to it on the side away from today. */
  workday(day: number): number;
  /** The name of the month that many months from the month of a day. */
  month(day: number, later: number): string;
}

/** The calendar as it hangs on the day of `now`. */
export function createCalendar(now: Date): Calendar {
  const today = Math.floor(now.getTime() / dayMs);
  return {
    today: today * dayMs,
    at: (day, minutes) => (today + day) * dayMs + minutes * minuteMs,
    dayOf: (instant) => Math.floor(instant / dayMs) - today,
    workday(day) {
      // 1 January 1970 was a Thursday.
      const weekday = (today + day + 4) % 7;
      if (weekday === 6) return day > 0 ? day + 2 : day - 1;
      if (weekday === 0) return day > 0 ? day + 1 : day - 2;
      return day;
    },
    month: (day, later) => months[(new Date((today + day) * dayMs).getUTCMonth() + later + 12) % 12] as string,
  };
}

/** Some instant of that day's working hours, to the millisecond. */
export function someTime(random: Random, calendar: Calendar, day: number): number {
  return calendar.at(day, between(random, 7 * 60, 20 * 60)) + between(random, 0, minuteMs - 1);
}

/** That many minutes later, but before today. */
export function later(random: Random, calendar: Calendar, instant: number, minutes: number): number {
  return Math.min(
    instant + minutes * minuteMs + between(random, 0, minuteMs - 1),
    calendar.today - between(random, 1, 4 * 60 * minuteMs),
  );
}
