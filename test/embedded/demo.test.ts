// The demo data: always the same, valid, and with every oddity that a real account has (contract §10).
import { isDeepStrictEqual } from "node:util";
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { createValidator } from "@bufbuild/protovalidate";
import { describe, expect, test } from "vitest";
import { anchors } from "../../src/embedded/demo/anchors.ts";
import { demoRecords } from "../../src/embedded/demo/records.ts";
import type { ContactItem, SessionItem } from "../../src/gen/records/ingest/v1/items_pb.ts";
import {
  ContactItemSchema,
  ContactNoteItemSchema,
  SessionItemSchema,
  SessionNoteItemSchema,
  TranscriptItemSchema,
} from "../../src/gen/records/ingest/v1/items_pb.ts";
import {
  counts,
  dayMs,
  days,
  demo,
  eachDay,
  idsOf,
  ms,
  named,
  now,
  profiles,
  recordsOf,
  the,
  todayOf,
} from "./demo-made.ts";

describe("the demo data", () => {
  test.each(profiles)("of %s are the same at any time of one day (OPS-02)", (profile) => {
    const later = new Date(todayOf(now) + dayMs - 1);
    const records = demoRecords(profile, now);
    expect(isDeepStrictEqual(demoRecords(profile, now), records)).toBe(true);
    expect(isDeepStrictEqual(demoRecords(profile, later), records)).toBe(true);
    expect(isDeepStrictEqual(demoRecords(profile, new Date(later.getTime() + 1)), records)).toBe(false);
  });

  test("keep the contacts' names, emails, phones and ids, and the sessions' ids, on another day", () => {
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

  test("are pinned: these ids never change, or a demo that was half filled gets everything twice", () => {
    expect(the("Ann Lee").id).toBe("2601aba2-1e24-442e-8f0d-34b5cdb9a038");
    expect(demo.sessions[0]?.id).toBe("636cea14-b309-4cb1-ade9-3a9ae6e178b6");
    expect(demo.contacts[0]?.externalId).toBe("demo-contact-0");
  });

  test.each(profiles)("of %s keep all rules of the messages, on every day", (profile) => {
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

  test("are made within half a second of computing", () => {
    // Not by the clock: that counts what the machine does besides.
    const times = [1, 2, 3].map(() => {
      const before = process.cpuUsage();
      demoRecords("demo", now);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1_000;
    });
    expect(Math.min(...times)).toBeLessThan(500);
  });

  test("hold ids of version 4 and external ids that nobody else has, in any profile", () => {
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

  test.each(profiles)("of %s refer only to what is there", (profile) => {
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

  test.each(profiles)("of %s leave no mark of a template behind", (profile) => {
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

describe("the counts", () => {
  test("of demo make a year of work", () => {
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

  test("of the others are smaller", () => {
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
    "on %s put past sessions into the past year, on working days, and some into the coming weeks",
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

  test.each(eachDay)("on %s make nothing that was written after now or changed before it was made", (_, date) => {
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

describe("the contacts", () => {
  test("that are anchors are there once each, active, with an email, notes and sessions", () => {
    for (const name of Object.values(anchors)) {
      const { id, email, archivedAt } = the(name);
      expect(email, name).toBeDefined();
      expect(archivedAt, name).toBeUndefined();
      expect(
        demo.contactNotes.some(({ contactId }) => contactId === id),
        name,
      ).toBe(true);
      expect(
        demo.sessions.some(({ contactId }) => contactId === id),
        name,
      ).toBe(true);
    }
  });

  test("hold Ann Lee as the documentation knows her, changed last of all", () => {
    expect(the("Ann Lee")).toMatchObject({
      email: "ann.lee@example.com",
      phone: "+1 415 555 0100",
      notes: expect.stringContaining("Lantern Books") as string,
      memory: expect.stringContaining("second shop") as string,
    });
    expect(
      demo.contacts.filter(({ fullName, updatedAt }) => fullName !== "Ann Lee" && ms(updatedAt) > todayOf(now) - dayMs),
    ).toEqual([]);
    const sessions = demo.sessions.filter(({ contactId }) => contactId === the("Ann Lee").id);
    expect(sessions.filter(({ sessionDate }) => ms(sessionDate) < todayOf(now)).length).toBeGreaterThan(5);
    expect(sessions.filter(({ sessionDate }) => ms(sessionDate) > todayOf(now))).toHaveLength(2);
  });

  test("of second hold an Anne Lee, and none of them holds the other's", () => {
    const second = recordsOf("second", now);
    expect(named("Anne Lee", second)).toMatchObject([{ email: "anne.lee@example.org", phone: "+44 20 7946 0100" }]);
    expect(named("Ann Lee", second)).toEqual([]);
    expect(named("Anne Lee")).toEqual([]);
  });

  test("have names in many scripts", () => {
    const scripts = [
      "Greek",
      "Cyrillic",
      "Arabic",
      "Hebrew",
      "Devanagari",
      "Han",
      "Hiragana",
      "Katakana",
      "Hangul",
      "Thai",
    ];
    for (const script of scripts)
      expect(
        demo.contacts.some(({ fullName }) => new RegExp(`\\p{Script=${script}}`, "u").test(fullName ?? "")),
        script,
      ).toBe(true);
    for (const letter of "éłøåëễßğřőšñçð")
      expect(
        demo.contacts.some(({ fullName }) => fullName?.normalize().includes(letter)),
        letter,
      ).toBe(true);
  });

  test("share a name in one case, both active", () => {
    const doubles = [
      ...counts(
        demo.contacts.filter(({ fullName }) => fullName !== undefined),
        ({ fullName }) => fullName,
      ),
    ].filter(([, count]) => count > 1);
    expect(doubles).toEqual([["David Miller", 2]]);
    expect(named("David Miller").map(({ archivedAt }) => archivedAt)).toEqual([undefined, undefined]);
  });

  test("are archived here and there, one with the email of an active one", () => {
    const archived = demo.contacts.filter(({ archivedAt }) => archivedAt !== undefined);
    expect(archived.length).toBeGreaterThanOrEqual(22);
    expect(archived.length).toBeLessThanOrEqual(28);
    expect(named("Jose Alvarez")).toMatchObject([{ email: the("José Álvarez").email, archivedAt: {} }]);
    const withRecords = archived.filter(
      ({ id }) =>
        demo.sessions.some(({ contactId }) => contactId === id) &&
        demo.contactNotes.some(({ contactId }) => contactId === id),
    );
    expect(withRecords.length).toBeGreaterThan(0);
  });

  test("that were imported have an inferred name alone, and some have no name at all", () => {
    expect(
      demo.contacts.filter(({ fullName, inferredName }) => fullName === undefined && inferredName !== undefined),
    ).toHaveLength(30);
    expect(
      demo.contacts.filter(
        ({ fullName, inferredName, email }) =>
          fullName === undefined && inferredName === undefined && email !== undefined,
      ),
    ).toHaveLength(3);
    expect(
      demo.contacts.some(({ fullName, inferredName }) => fullName !== undefined && inferredName !== undefined),
    ).toBe(true);
  });

  test("lack an email, a phone, notes or memory in part", () => {
    const lacking = (["email", "phone", "notes", "memory"] as const).map(
      (field) => demo.contacts.filter((contact) => contact[field] === undefined).length,
    );
    for (const count of lacking) {
      expect(count).toBeGreaterThan(30);
      expect(count).toBeLessThan(300);
    }
  });

  test.each(profiles)(
    "of %s have emails on domains for examples, no two active ones the same in lower case",
    (profile) => {
      const { contacts } = recordsOf(profile, now);
      const active = contacts.flatMap(({ email, archivedAt }) =>
        email === undefined || archivedAt !== undefined ? [] : [email.toLowerCase()],
      );
      expect(new Set(active).size).toBe(active.length);
      for (const { email } of contacts)
        if (email !== undefined) expect(email.toLowerCase()).toMatch(/@([a-z0-9]+\.)?example\.(com|net|org)$/);
    },
  );

  test("have some emails in capitals and one beyond ASCII", () => {
    expect(demo.contacts.some(({ email }) => email !== email?.toLowerCase())).toBe(true);
    expect(the("Zoë Martin").email).toBe("zoë.martin@example.org");
  });

  test.each(profiles)("of %s have only phones that are kept for fiction", (profile) => {
    for (const { phone } of recordsOf(profile, now).contacts)
      if (phone !== undefined) expect(digitsOf(phone), phone).toMatch(fictional);
  });

  test("spell phones in many ways", () => {
    const spellings = new Set(
      demo.contacts.flatMap(({ phone }) => (phone === undefined ? [] : [phone.replace(/\d+/g, "0")])),
    );
    expect(spellings.size).toBeGreaterThan(20);
    const scripts = [
      /^\+/,
      /^00/,
      /^\(/,
      /^tel:/,
      /ext\./,
      /\(0\)/,
      /^\d+$/,
      /[٠-٩]/,
      /[０-９]/,
      /\d\.\d/,
      /\d-\d/,
      /\//,
    ];
    for (const pattern of scripts)
      expect(
        demo.contacts.some(({ phone }) => pattern.test(phone ?? "")),
        String(pattern),
      ).toBe(true);
  });
});

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
