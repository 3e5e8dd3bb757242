// The demo's records: those of an account after a year of work, on whatever day it is (contract §10).
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { createValidator } from "@bufbuild/protovalidate";
import { describe, expect, test } from "vitest";
import type { DemoProfile } from "../../src/embedded/demo/records.ts";
import { demoRecords } from "../../src/embedded/demo/records.ts";
import { RecordSchema } from "../../src/gen/records/ingest/v1/import_pb.ts";
import type { DemoRecords } from "../fixtures/records/demo.ts";
import { demoOf } from "../fixtures/records/demo.ts";

const profiles: readonly DemoProfile[] = ["demo", "second", "reader", "enrolled", "waiting"];
/** Every day of a week, a leap day and the turn of a year. */
const days = [
  ...[
    "16T00:00:00Z",
    "17T12:00:00Z",
    "18T23:59:59Z",
    "19T06:00:00Z",
    "20T09:00:00Z",
    "21T09:30:00Z",
    "22T18:00:00Z",
  ].map((day) => `2026-11-${day}`),
  "2028-02-29T23:59:59.999Z",
  "2027-01-01T00:00:00Z",
].map((day) => new Date(day));
const [now] = days as [Date];
const demo = demoOf("demo", now);
const dayMs = 86_400_000;

function ms(time: Timestamp | undefined): number {
  return time === undefined ? Number.NaN : timestampMs(time);
}

function named(name: string, { contacts }: DemoRecords) {
  return contacts.filter(({ fullName }) => fullName === name);
}

test.each(profiles)("every record of %s follows the rules of its message and belongs to one before it", (profile) => {
  const validator = createValidator();
  const records = demoRecords(profile, now);
  expect(records.filter((record) => validator.validate(RecordSchema, record).kind !== "valid")).toEqual([]);
  const known = new Set<string | undefined>();
  for (const { record } of records) {
    const value = record.value as { id?: string; contactId?: string; sessionId?: string };
    for (const owner of [value.contactId, value.sessionId])
      if (owner !== undefined) expect(known, JSON.stringify(value.id)).toContain(owner);
    if (value.id !== undefined) expect(known).not.toContain(value.id);
    known.add(value.id);
  }
});

test("the account demo has a year of work, the others less", () => {
  const counts = profiles.map((profile) => Object.values(demoOf(profile, now)).map((list: unknown[]) => list.length));
  expect(counts).toEqual([
    [400, 513, 188, 923, 700],
    [60, 75, 22, 131, 100],
    [40, 54, 15, 92, 60],
    [5, 7, 2, 11, 6],
    [5, 6, 2, 15, 5],
  ]);
});

describe.each(days.map((day) => [day.toISOString(), day] as const))("on %s", (_, day) => {
  const today = Math.floor(day.getTime() / dayMs) * dayMs;
  const { contacts, sessions, transcripts, sessionNotes, contactNotes } = demoOf("demo", day);

  test("the records are the same, at other times", () => {
    expect(contacts.map(({ id, fullName }) => [id, fullName])).toEqual(
      demo.contacts.map(({ id, fullName }) => [id, fullName]),
    );
    expect(sessions.map(({ id }) => id)).toEqual(demo.sessions.map(({ id }) => id));
  });

  test("the sessions are on working days, nearly all in the past year, and some in the coming weeks", () => {
    const starts = sessions.flatMap(({ sessionDate }) => (sessionDate === undefined ? [] : [ms(sessionDate)]));
    expect(starts.filter((start) => [0, 6].includes(new Date(start).getUTCDay()))).toEqual([]);
    expect(starts.filter((start) => start > today)).toHaveLength(15);
    expect(Math.min(...starts)).toBeGreaterThan(today - 366 * dayMs);
    expect(Math.max(...starts)).toBeLessThan(today + 35 * dayMs);
  });

  test("nothing was created or changed today or before it was created, and no session ends before it begins", () => {
    for (const { id, createdAt, updatedAt } of [...contacts, ...sessions]) {
      expect(ms(createdAt), id).toBeLessThanOrEqual(ms(updatedAt));
      expect(ms(updatedAt), id).toBeLessThan(today);
    }
    for (const { id, createdAt } of [...contactNotes, ...sessionNotes]) expect(ms(createdAt), id).toBeLessThan(today);
    for (const { id, sessionDate, sessionDateEnd } of sessions)
      if (sessionDateEnd !== undefined) expect(ms(sessionDateEnd), id).toBeGreaterThan(ms(sessionDate));
    const starts = new Map(sessions.map(({ id, sessionDate }) => [id, ms(sessionDate)]));
    for (const { sessionId, recording } of transcripts)
      if (recording?.recordingStartedAt !== undefined)
        expect(ms(recording.recordingStartedAt), sessionId).toBeGreaterThanOrEqual(starts.get(sessionId ?? "") ?? 0);
  });

  test("the months in texts have names", () => {
    const texts = [...sessions, ...sessionNotes, ...contactNotes, ...contacts, ...transcripts].map((record) =>
      JSON.stringify(record, (_key, value: unknown) => (typeof value === "bigint" ? Number(value) : value)),
    );
    expect(texts.filter((text) => /\(month|Invalid|undefined|NaN/.test(text))).toEqual([]);
    const month = new Intl.DateTimeFormat("en", { month: "long", timeZone: "UTC" }).format(today - 45 * dayMs);
    expect(texts.filter((text) => text.includes(month)).length).toBeGreaterThan(20);
  });
});

test("Ann Lee has the values of the documentation, and was changed last of all", () => {
  expect(named("Ann Lee", demo)).toMatchObject([
    {
      email: "ann.lee@example.com",
      phone: "+1 415 555 0100",
      notes: expect.stringContaining("Lantern Books") as string,
      memory: expect.stringContaining("second shop") as string,
    },
  ]);
  const [latest] = demo.contacts.toSorted((one, other) => ms(other.updatedAt) - ms(one.updatedAt));
  expect(latest?.fullName).toBe("Ann Lee");
});

test("Anne Lee is in the account second alone, and no word begins with Ann in the account enrolled", () => {
  expect(named("Anne Lee", demoOf("second", now))).toMatchObject([
    { email: "anne.lee@example.org", phone: "+44 20 7946 0100" },
  ]);
  expect([...named("Anne Lee", demo), ...named("Ann Lee", demoOf("second", now))]).toEqual([]);
  const { contacts } = demoOf("enrolled", now);
  expect(contacts.filter(({ fullName, email }) => /\bann/i.test(`${fullName} ${email}`))).toEqual([]);
});

test.each(profiles)(
  "the emails and links of %s are on example domains, and its phones reserved for fiction",
  (profile) => {
    const { contacts, sessions } = demoOf(profile, now);
    for (const { email, phone } of contacts) {
      if (email !== undefined) expect(email.toLowerCase()).toMatch(/@([a-z0-9]+\.)?example\.(com|net|org)$/);
      if (phone !== undefined) expect(digitsOf(phone), phone).toMatch(fictional);
    }
    for (const { conferenceUrl, providerDocUrl } of sessions)
      for (const url of [conferenceUrl, providerDocUrl])
        if (url !== undefined) expect(new URL(url).hostname).toMatch(/\.example\.com$/);
  },
);

const fictional = new RegExp(
  [
    "^1?(415|212|312|206|512|617)55501\\d\\d$",
    "^(44|0)((207946|161496|113496|131496|117496)0|7700900)\\d{3}$",
    "^(49|0)(3023125|6990009|4066969|2214710|8999998)\\d{3}$",
    "^(33|0)(19900|26191|35301|46571|53649|63998)\\d{4}$",
    "^(46|0)7017406(0[5-9]|[1-9]\\d)$",
    "^(353|0)2091\\d{5}$",
    "^(61|0)(25550\\d{4}|491570(156|157|158|159|110))$",
  ].join("|"),
);

/** The ASCII digits of a phone, without an extension, a zero in parentheses and what dials abroad. */
function digitsOf(phone: string): string {
  const plain = phone.replace(/\p{Nd}/gu, (digit) => String(valueOf(digit)));
  return plain
    .replace(/ext.*$/, "")
    .replace("(0)", "")
    .replace(/[^0-9]/g, "")
    .replace(/^00/, "");
}

function valueOf(digit: string): number {
  const point = digit.codePointAt(0) as number;
  const zero = [0x30, 0x0660, 0x0966, 0x0e50, 0xff10].find((first) => point >= first && point < first + 10);
  return point - (zero as number);
}
