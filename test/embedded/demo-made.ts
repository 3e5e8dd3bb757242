// The demo data as the tests of it look at them: made once for each profile and day.
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { expect } from "vitest";
import type { DemoProfile, DemoRecords } from "../../src/embedded/demo/records.ts";
import { demoRecords } from "../../src/embedded/demo/records.ts";
import type { ContactItem } from "../../src/gen/records/ingest/v1/items_pb.ts";
import { share } from "../support/form.ts";

export const profiles: readonly DemoProfile[] = ["demo", "second", "reader", "enrolled", "waiting"];
/** A Saturday, a leap day and the turn of a year among them: weekends and months fall elsewhere each time. */
export const days = [
  "2026-11-21T09:30:00Z",
  "2028-02-29T23:59:59.999Z",
  "2027-01-01T00:00:00Z",
  "2026-07-15T12:00:00Z",
  "2030-12-30T05:00:00Z",
].map((day) => new Date(day));
export const [now] = days as [Date];
export const eachDay = share(days, 2).map((date) => [date.toISOString().slice(0, 10), date] as const);
export const demo = demoRecords("demo", now);
const made = new Map<string, DemoRecords>();
export const dayMs = 86_400_000;

/** The records, made once for all tests. */
export function recordsOf(profile: DemoProfile, day: Date): DemoRecords {
  const key = `${profile} ${day.getTime()}`;
  const records = made.get(key) ?? demoRecords(profile, day);
  made.set(key, records);
  return records;
}

export function todayOf(date: Date): number {
  return Math.floor(date.getTime() / dayMs) * dayMs;
}

export function ms(time: Timestamp | undefined): number {
  return time === undefined ? Number.NaN : timestampMs(time);
}

export function named(name: string, { contacts }: DemoRecords = demo): ContactItem[] {
  return contacts.filter(({ fullName }) => fullName === name);
}

export function the(name: string): ContactItem {
  const [contact, ...others] = named(name);
  expect(others, name).toEqual([]);
  return contact as ContactItem;
}

export function counts<T>(
  items: readonly T[],
  keyOf: (item: T) => string | undefined,
): Map<string | undefined, number> {
  const found = new Map<string | undefined, number>();
  for (const item of items) found.set(keyOf(item), (found.get(keyOf(item)) ?? 0) + 1);
  return found;
}

export function codePoints(text: string | undefined): number {
  return [...(text ?? "")].length;
}

export function idsOf(records: DemoRecords): (string | undefined)[] {
  const { contacts, sessions, transcripts, sessionNotes, contactNotes } = records;
  return [
    ...[...contacts, ...sessions, ...sessionNotes, ...contactNotes].map(({ id }) => id),
    ...transcripts.flatMap(({ recording }) => recording?.id ?? []),
  ];
}
