// Calendar that counts days from today, so that the demo always shows the past year.
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

/**
 * The calendar relative to a day: day 0 is that day in UTC, day -1 the previous one. Instants are in milliseconds since
 * 1970.
 */
export interface Calendar {
  /** The first instant of day 0. All past events are earlier. */
  readonly today: number;
  /** Returns the instant `minutes` after the start of a day. */
  at(day: number, minutes: number): number;
  /** Returns the day of an instant. */
  dayOf(instant: number): number;
  /** Returns the day if it is a working day, or else the nearest working day in the direction away from today. */
  workday(day: number): number;
  /** Returns the name of the month that is `later` months after the month of a day. */
  month(day: number, later: number): string;
}

/** Creates the calendar relative to the UTC day of `now`. */
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

/** Returns a random instant of a day between 07:00 and 20:01 UTC. */
export function someTime(random: Random, calendar: Calendar, day: number): number {
  return calendar.at(day, between(random, 7 * 60, 20 * 60)) + between(random, 0, minuteMs - 1);
}

/** Returns an instant about `minutes` after `instant`, but always before day 0. */
export function later(random: Random, calendar: Calendar, instant: number, minutes: number): number {
  return Math.min(
    instant + minutes * minuteMs + between(random, 0, minuteMs - 1),
    calendar.today - between(random, 1, 4 * 60 * minuteMs),
  );
}
