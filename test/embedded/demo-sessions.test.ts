// The demo's sessions, transcripts and notes: every oddity that those of a real account have (contract §10).
import { describe, expect, test } from "vitest";
import type { SessionItem } from "../../src/gen/records/ingest/v1/items_pb.ts";
import { codePoints, counts, demo, eachDay, ms, recordsOf, the } from "./demo-made.ts";

describe("the demo's sessions", () => {
  test.each(eachDay)(
    "have every recording status, source and conference provider on %s, and some have none",
    (_, date) => {
      const { sessions } = recordsOf("demo", date);
      const statuses = counts(sessions, ({ recordingStatus }) => recordingStatus);
      expect(new Set(statuses.keys())).toEqual(
        new Set(["none", "scheduled", "recording", "processing", "completed", "failed", undefined]),
      );
      expect(new Set(sessions.map(({ source }) => source))).toEqual(
        new Set(["calendar", "manual", "import", "recorder"]),
      );
      expect(new Set(sessions.map(({ conferenceProvider }) => conferenceProvider))).toEqual(
        new Set(["google_meet", "zoom", "teams", undefined]),
      );
    },
  );

  test("include some without a date, an end, a client, a title or a subtitle", () => {
    const without = (field: keyof SessionItem) =>
      demo.sessions.filter((session) => session[field] === undefined).length;
    expect(without("sessionDate")).toBe(8);
    expect(without("contactId")).toBeGreaterThanOrEqual(25);
    expect(without("contactId")).toBeLessThanOrEqual(35);
    for (const field of ["sessionDateEnd", "title", "subtitle"] as const)
      expect(without(field), field).toBeGreaterThan(5);
    const archived = new Set(demo.contacts.filter(({ archivedAt }) => archivedAt !== undefined).map(({ id }) => id));
    expect(demo.sessions.some(({ contactId }) => archived.has(contactId))).toBe(true);
  });

  test("have conference and document addresses on example domains, and some have none", () => {
    for (const field of ["conferenceUrl", "providerDocUrl"] as const) {
      const urls = demo.sessions.flatMap((session) => session[field] ?? []);
      expect(urls.length).toBeGreaterThan(50);
      expect(urls.length).toBeLessThan(demo.sessions.length);
      for (const url of urls) expect(new URL(url).hostname).toMatch(/\.example\.com$/);
    }
    expect(
      demo.sessions.some(
        ({ conferenceProvider, conferenceUrl }) => conferenceProvider !== undefined && conferenceUrl === undefined,
      ),
    ).toBe(true);
  });
});

describe("the demo's transcripts", () => {
  test("consist of turns of speakers, each with its time", () => {
    for (const { transcript } of demo.transcripts) {
      if (transcript === undefined) continue;
      const lines = transcript.split("\n");
      for (const line of lines) expect(line).toMatch(/^\[\d\d:[0-5]\d:[0-5]\d\] \p{L}+: \S/u);
      const times = lines.map((line) => line.slice(1, 9));
      expect(times.toSorted()).toEqual(times);
    }
  });

  test("are short, except for one of about 120 KB and a few of 20 to 60 KB", () => {
    const sizes = demo.transcripts.map(({ transcript }) => (transcript ?? "").length).toSorted((a, b) => b - a);
    expect(sizes[0]).toBeGreaterThan(110_000);
    expect(sizes[0]).toBeLessThan(125_000);
    expect(sizes.slice(1, 5).map((size) => size > 20_000 && size < 60_000)).toEqual([true, true, true, true]);
    expect(sizes[5]).toBeLessThan(12_000);
  });

  test.each(eachDay)(
    "include some without a text, recording, duration or times on %s, and some recorded sessions have none",
    (_, date) => {
      const { sessions, transcripts } = recordsOf("demo", date);
      const lacks = {
        text: transcripts.filter(({ transcript, recording }) => transcript === undefined && recording !== undefined),
        recording: transcripts.filter(
          ({ transcript, recording }) => transcript !== undefined && recording === undefined,
        ),
        duration: transcripts.filter(
          ({ recording }) => recording !== undefined && recording.durationSeconds === undefined,
        ),
        start: transcripts.filter(
          ({ recording }) => recording !== undefined && recording.recordingStartedAt === undefined,
        ),
        end: transcripts.filter(({ recording }) => recording !== undefined && recording.recordingEndedAt === undefined),
      };
      for (const [name, found] of Object.entries(lacks)) expect(found.length, name).toBeGreaterThan(0);
      const transcribed = new Set(transcripts.map(({ sessionId }) => sessionId));
      expect(
        sessions.filter(({ id, recordingStatus }) => recordingStatus === "completed" && !transcribed.has(id)).length,
      ).toBeGreaterThan(0);
    },
  );
});

describe("the demo's notes", () => {
  test("have every type in sessions", () => {
    expect([...counts(demo.sessionNotes, ({ type }) => String(type)).keys()].toSorted()).toEqual([
      "1",
      "2",
      "3",
      "4",
      "5",
      "6",
    ]);
  });

  test("include some of sessions without a title or a text, and have a slug if they have a title", () => {
    expect(demo.sessionNotes.filter(({ title }) => title === undefined).length).toBeGreaterThan(50);
    expect(demo.sessionNotes.filter(({ content }) => content === undefined).length).toBeGreaterThan(5);
    for (const { title, titleSlug } of demo.sessionNotes) expect(titleSlug === undefined).toBe(title === undefined);
  });

  test("have the positions 0, 1, 2 and so on within a session", () => {
    const positions = new Map<string | undefined, number[]>();
    for (const { sessionId, position } of demo.sessionNotes)
      positions.set(sessionId, [...(positions.get(sessionId) ?? []), position]);
    for (const list of positions.values()) expect(list).toEqual(list.map((_, at) => at));
    expect(Math.max(...[...positions.values()].map((list) => list.length))).toBeGreaterThan(4);
    expect(demo.sessions.some(({ id }) => !positions.has(id))).toBe(true);
  });

  test.each(eachDay)(
    "include some that are longer than a search shows on %s, and one of exactly 10,000 code points",
    (_, date) => {
      const { contactNotes, sessionNotes } = recordsOf("demo", date);
      expect(contactNotes.filter(({ content }) => codePoints(content) > 1_000).length).toBeGreaterThan(5);
      expect(sessionNotes.filter(({ content }) => codePoints(content) > 1_000).length).toBeGreaterThan(5);
      const longest = contactNotes.filter(({ content }) => codePoints(content) >= 10_000);
      expect(longest.map(({ content }) => codePoints(content))).toEqual([10_000]);
      // A letter beyond the basic plane: UTF-16 units give another count.
      expect(longest[0]?.content.length).toBeGreaterThan(10_000);
    },
  );

  test("exceed the size of a timeline for one contact", () => {
    const perContact = counts(demo.contactNotes, ({ contactId }) => contactId);
    expect([...perContact].filter(([, count]) => count > 50)).toEqual([[the("José Álvarez").id, 64]]);
  });

  test("have several sources and many languages in contacts, and some were changed later", () => {
    expect(new Set(demo.contactNotes.map(({ source }) => source))).toEqual(
      new Set(["manual", "mobile", "api", "import"]),
    );
    expect(demo.contactNotes.some(({ createdAt, updatedAt }) => ms(updatedAt) > ms(createdAt))).toBe(true);
    for (const word of [
      "预算",
      "契約",
      "예산",
      "งบประมาณ",
      "бюджет",
      "προϋπολογισμός",
      "ميزانية",
      "התקציב",
      "बजट",
      "ngân sách",
    ]) {
      expect(
        demo.contactNotes.some(({ content }) => content.normalize().includes(word.normalize())),
        word,
      ).toBe(true);
    }
  });

  test("rarely repeat a text", () => {
    const texts = [...demo.contactNotes, ...demo.sessionNotes].flatMap(({ content }) => content ?? []);
    expect(new Set(texts).size / texts.length).toBeGreaterThan(0.85);
  });
});
