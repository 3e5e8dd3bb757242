// The demo data: always the same, valid, and in the counts and times of a real account (contract §10).
import { isDeepStrictEqual } from "node:util";
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { createValidator } from "@bufbuild/protovalidate";
import { describe, expect, test } from "vitest";
import { demoRecords } from "../../src/embedded/demo/records.ts";
import type { ContactItem, SessionItem } from "../../src/gen/records/ingest/v1/items_pb.ts";
import {
  ContactItemSchema,
  ContactNoteItemSchema,
  SessionItemSchema,
  SessionNoteItemSchema,
  TranscriptItemSchema,
} from "../../src/gen/records/ingest/v1/items_pb.ts";
import { dayMs, days, demo, eachDay, idsOf, ms, now, profiles, recordsOf, the, todayOf } from "./demo-made.ts";

describe("the demo data", () => {
  test.each(profiles)("are the same at any time of one day in the profile %s [OPS-02]", (profile) => {
    const later = new Date(todayOf(now) + dayMs - 1);
    const records = demoRecords(profile, now);
    expect(isDeepStrictEqual(demoRecords(profile, now), records)).toBe(true);
    expect(isDeepStrictEqual(demoRecords(profile, later), records)).toBe(true);
    expect(isDeepStrictEqual(demoRecords(profile, new Date(later.getTime() + 1)), records)).toBe(false);
  });

  test("have the same contacts' names, emails, phones and ids, and the same sessions' ids, on another day", () => {
    const stay = ({ id, externalId, fullName, inferredName, email, phone }: ContactItem) => ({
      id,
      externalId,
      fullName,
      inferredName,
      email,
      phone,
    });
    const who = ({ id, externalId, contactId }: SessionItem) => ({ id, externalId, contactId });
    for (const day of days) {
      const other = recordsOf("demo", day);
      expect(isDeepStrictEqual(other.contacts.map(stay), demo.contacts.map(stay))).toBe(true);
      expect(isDeepStrictEqual(other.sessions.map(who), demo.sessions.map(who))).toBe(true);
    }
  });

  test("have pinned ids, without which a half-filled demo would be filled twice", () => {
    expect(the("Ann Lee").id).toBe("2601aba2-1e24-442e-8f0d-34b5cdb9a038");
    expect(demo.sessions[0]?.id).toBe("636cea14-b309-4cb1-ade9-3a9ae6e178b6");
    expect(demo.contacts[0]?.externalId).toBe("demo-contact-0");
  });

  test.each(profiles)("conform to every rule of the messages in the profile %s, on every day", (profile) => {
    const validator = createValidator();
    const check = <Desc extends DescMessage>(schema: Desc, items: readonly MessageShape<Desc>[]): void => {
      expect(
        items
          .map((item) => validator.validate(schema, create(schema, item as never)))
          .filter(({ kind }) => kind !== "valid"),
      ).toEqual([]);
    };
    for (const day of profile === "demo" ? [now] : days) {
      const records = recordsOf(profile, day);
      check(ContactItemSchema, records.contacts);
      check(SessionItemSchema, records.sessions);
      check(TranscriptItemSchema, records.transcripts);
      check(SessionNoteItemSchema, records.sessionNotes);
      check(ContactNoteItemSchema, records.contactNotes);
    }
  });

  test("are generated within half a second of CPU time", () => {
    // CPU time, because the clock would also count other work of the machine.
    const times = [1, 2, 3].map(() => {
      const before = process.cpuUsage();
      demoRecords("demo", now);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1_000;
    });
    expect(Math.min(...times)).toBeLessThan(500);
  });

  test("have ids of version 4, and external ids that are unique across the profiles", () => {
    const all = profiles.map((profile) => recordsOf(profile, now));
    const ids = all.flatMap(idsOf);
    expect(new Set(ids).size).toBe(ids.length);
    const form = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    expect(ids.filter((id) => !form.test(id ?? ""))).toEqual([]);
    const external = all.flatMap(({ contacts, sessions, sessionNotes, contactNotes }) =>
      [...contacts, ...sessions, ...sessionNotes, ...contactNotes].map(({ externalId }) => externalId),
    );
    expect(new Set(external).size).toBe(external.length);
    expect(external).not.toContain(undefined);
  });

  test.each(profiles)("refer only to existing records in the profile %s", (profile) => {
    for (const day of days) {
      const { contacts, sessions, transcripts, sessionNotes, contactNotes } = recordsOf(profile, day);
      const contactIds = new Set(contacts.map(({ id }) => id));
      const sessionIds = new Set(sessions.map(({ id }) => id));
      expect(sessions.filter(({ contactId }) => contactId !== undefined && !contactIds.has(contactId))).toEqual([]);
      expect(contactNotes.filter(({ contactId }) => !contactIds.has(contactId))).toEqual([]);
      expect([...transcripts, ...sessionNotes].filter(({ sessionId }) => !sessionIds.has(sessionId))).toEqual([]);
      expect(new Set(transcripts.map(({ sessionId }) => sessionId)).size).toBe(transcripts.length);
    }
  });

  test.each(profiles)("contain no placeholder of a template in the profile %s", (profile) => {
    const { contacts, sessions, transcripts, sessionNotes, contactNotes } = recordsOf(profile, now);
    const texts = [
      contacts.flatMap(({ notes, memory }) => [notes, memory]),
      sessions.flatMap(({ title, subtitle }) => [title, subtitle]),
      sessionNotes.flatMap(({ title, content }) => [title, content]),
      contactNotes.map(({ content }) => content),
      transcripts.map(({ transcript }) => transcript?.replaceAll(/^\[[\d:]+\]/gm, "")),
    ];
    expect(texts.flat().filter((text) => /[{}[\]|]|undefined|NaN/.test(text ?? ""))).toEqual([]);
  });
});

describe("the counts of the demo data", () => {
  test("make a year of work in the profile demo", () => {
    for (const day of days) {
      const { contacts, sessions, transcripts, sessionNotes, contactNotes } = recordsOf("demo", day);
      expect(contacts).toHaveLength(400);
      expect(sessions).toHaveLength(513);
      expect(contactNotes).toHaveLength(700);
      expect(transcripts.length).toBeGreaterThan(150);
      expect(transcripts.length).toBeLessThan(220);
      expect(sessionNotes.length).toBeGreaterThan(800);
      expect(sessionNotes.length).toBeLessThan(1_050);
    }
  });

  test("are smaller in the other profiles", () => {
    expect(
      profiles
        .slice(1)
        .map((profile) => recordsOf(profile, now))
        .map(({ contacts, sessions }) => [contacts.length, sessions.length]),
    ).toEqual([
      [60, 75],
      [40, 54],
      [5, 7],
      [5, 6],
    ]);
    for (const profile of profiles.slice(1)) {
      const records = recordsOf(profile, now);
      for (const [kind, items] of Object.entries(records))
        expect((items as unknown[]).length, `${profile} ${kind}`).toBeGreaterThan(0);
    }
  });

  test.each(eachDay)(
    "put the past sessions into the past year on %s, on working days, and some into the coming weeks",
    (_, date) => {
      const today = todayOf(date);
      const dates = recordsOf("demo", date).sessions.flatMap(({ sessionDate }) =>
        sessionDate === undefined ? [] : [ms(sessionDate)],
      );
      const past = dates.filter((time) => time < today);
      expect(dates.length - past.length).toBe(15);
      expect(dates.filter((time) => time >= today && time < today + dayMs)).toEqual([]);
      expect(Math.min(...past)).toBeGreaterThan(today - 366 * dayMs);
      expect(Math.max(...dates)).toBeLessThan(today + 35 * dayMs);
      expect(new Set(past).size).toBe(past.length);
      for (const time of dates) expect([1, 2, 3, 4, 5]).toContain(new Date(time).getUTCDay());
      const lastMonth = past.filter((time) => time > today - 30 * dayMs).length;
      expect(lastMonth).toBeGreaterThan(20);
    },
  );

  test.each(eachDay)("include nothing on %s that was written after now or changed before it was created", (_, date) => {
    const { contacts, sessions, sessionNotes, contactNotes } = recordsOf("demo", date);
    for (const item of [...contacts, ...sessions, ...sessionNotes, ...contactNotes])
      expect(ms(item.createdAt)).toBeLessThan(todayOf(date));
    for (const item of [...contacts, ...sessions, ...contactNotes]) {
      expect(ms(item.updatedAt), item.externalId).toBeLessThan(todayOf(date));
      expect(ms(item.updatedAt), item.externalId).toBeGreaterThanOrEqual(ms(item.createdAt));
    }
    for (const { archivedAt, createdAt } of contacts)
      if (archivedAt !== undefined) expect(ms(archivedAt)).toBeGreaterThan(ms(createdAt));
    for (const { sessionDate, sessionDateEnd } of sessions)
      if (sessionDateEnd !== undefined) expect(ms(sessionDateEnd)).toBeGreaterThan(ms(sessionDate));
  });
});
