// Twenty everyday questions over the demo's records: the ten that assistants are asked first, and ten more.
import { beginningOf, dateOf, hasWords, idsOf, isArchived, nameOf } from "./records.ts";
import type { Records, Session } from "./records.ts";
import type { Ask, Question } from "./trace.ts";

/** A list page by page, to its end. */
async function pages(ask: Ask, tool: string, given: Readonly<Record<string, unknown>>): Promise<void> {
  for (let offset: number | null = 0; offset !== null; ) {
    const { pagination } = await ask(tool, { ...given, ...(offset > 0 && { offset }) });
    offset = pagination.next_offset as number | null;
  }
}

/** The id of the contact of a name. */
async function idOf(ask: Ask, query: string): Promise<string> {
  return (await ask("search_contacts", { query, brief: true, limit: 5 }))["data"][0].id as string;
}

const untilNow = (name: string, { sessionsOf, isPast }: Records): Session[] => sessionsOf(name).filter(isPast);
const ends = (text: string): string => text.trimEnd().split("\n").at(-1) ?? "";

const first: readonly Question[] = [
  {
    asked: "Who did I meet last month about the second shop?",
    trace: (ask, { day }) => ask("list_sessions", { query: "second shop", from: day(-31), to: day(-1) }),
    facts: ({ sessionsBetween, day, personOf }) =>
      sessionsBetween(day(-31), day(-1))
        .filter(({ title, contactId }) => contactId !== undefined && hasWords(title, "second", "shop"))
        .map(personOf),
  },
  {
    asked: "What is the latest note on the warehouse move?",
    trace: (ask) => ask("search_notes", { query: "warehouse move", limit: 1 }),
    facts: ({ notes }) =>
      notes
        .filter(({ content }) => hasWords(content, "warehouse", "move"))
        .slice(0, 1)
        .map(beginningOf),
  },
  {
    asked: "What was said about the price in the sessions with Ann Lee?",
    trace: async (ask) => ask("get_session_transcript", { contact_id: await idOf(ask, "ann lee"), query: "price" }),
    facts: ({ sessionsOf, transcriptOf }) =>
      sessionsOf("Ann Lee")
        .map((session) => (transcriptOf(session) ?? "").split("\n").filter((line) => hasWords(line, "price")))
        .filter(({ length }) => length > 0)
        .flatMap(([line = ""]) => line),
  },
  {
    asked: "What is the phone number of José Álvarez?",
    trace: (ask) => ask("search_contacts", { query: "jose alvarez", brief: true, limit: 5 }),
    facts: () => ["+44 20 7946 0182"],
  },
  {
    asked: "Summarise all sessions with Ann Lee.",
    bound: { calls: 5, tokens: 12_000 },
    async trace(ask) {
      const { data } = await ask("list_sessions", { contact_name: "ann lee", limit: 25 });
      await pages(ask, "search_notes", { contact_id: data[0].client.id, kind: "session", limit: 25 });
    },
    facts: ({ sessionsOf, notesOf }) => {
      const sessions = sessionsOf("Ann Lee");
      return [...idsOf(sessions), ...sessions.flatMap(notesOf).map(beginningOf)];
    },
  },
  {
    asked: "Which contacts have no email?",
    trace: (ask) => pages(ask, "search_contacts", { has_email: false, brief: true }),
    facts: ({ contacts }) => contacts.filter((one) => !isArchived(one) && one.email === undefined).map(nameOf),
  },
  {
    asked: "Which sessions of the last month have no transcript?",
    trace: (ask, { day }) =>
      pages(ask, "list_sessions", { has_transcript: false, from: day(-31), to: day(-1), limit: 25 }),
    facts: ({ sessionsBetween, day, transcriptOf }) =>
      idsOf(sessionsBetween(day(-31), day(-1)).filter((session) => transcriptOf(session) === undefined)),
  },
  {
    asked: "What happened on the day that I last met Ann Lee?",
    async trace(ask, { now }) {
      const { data } = await ask("list_sessions", { contact_name: "ann lee", to: now, limit: 1 });
      const day = String(data[0].session_date).slice(0, 10);
      await ask("list_sessions", { from: day, to: day });
      await ask("search_notes", { from: day, to: day });
    },
    facts: (records) => {
      const [last] = untilNow("Ann Lee", records);
      const day = last === undefined ? "" : dateOf(last);
      return [...idsOf(records.sessionsBetween(day, day)), ...records.notesBetween(day, day).map(beginningOf)];
    },
  },
  {
    asked: "Who works on the warehouse move?",
    trace: (ask) => pages(ask, "list_sessions", { query: "warehouse move", limit: 25 }),
    facts: ({ sessions, personOf }) => [
      ...new Set(sessions.filter(({ title }) => hasWords(title, "warehouse", "move")).map(personOf)),
    ],
  },
  {
    asked: "Which contacts are archived?",
    trace: (ask) => pages(ask, "search_contacts", { state: "archived", brief: true }),
    facts: ({ contacts }) => contacts.filter(isArchived).map(nameOf),
  },
];

const more: readonly Question[] = [
  {
    asked: "What did Ann Lee and I agree to do at our last meeting with a transcript?",
    async trace(ask, { now }) {
      const given = { contact_name: "ann lee", has_transcript: true, to: now, limit: 1 };
      await ask("get_session", { session_id: (await ask("list_sessions", given))["data"][0].id });
    },
    facts: (records) =>
      untilNow("Ann Lee", records)
        .filter((session) => records.transcriptOf(session) !== undefined)
        .slice(0, 1)
        .flatMap(records.notesOf)
        .map(beginningOf),
  },
  {
    asked: "Whose number is +44 20 7946 0182?",
    trace: (ask) => ask("search_contacts", { query: "+44 20 7946 0182", brief: true }),
    facts: () => ["José Álvarez"],
  },
  {
    asked: "What is the email address of Soren Odegard? (without the special letters)",
    trace: (ask) => ask("search_contacts", { query: "soren odegard", brief: true }),
    facts: () => ["soren@fjordlys.example.net"],
  },
  {
    asked: "Who is my next meeting with, and what is prepared for it?",
    async trace(ask, { now, day }) {
      const { data } = await ask("list_sessions", { from: now, to: day(31), limit: 25 });
      await ask("get_session", { session_id: data.at(-1).id });
    },
    facts: ({ sessions, isPast, personOf, notesOf }) => {
      const next = sessions.filter((one) => one.sessionDate !== undefined && !isPast(one)).at(-1);
      return next === undefined ? [] : [...idsOf([next]), personOf(next), ...notesOf(next).map(beginningOf)];
    },
  },
  {
    asked: "How often did I meet Zoë Martin, and since when?",
    trace: (ask, { now }) => pages(ask, "list_sessions", { contact_name: "zoe martin", to: now, limit: 25 }),
    facts: (records) => idsOf(untilNow("Zoë Martin", records)),
  },
  {
    asked: "Tell me about 王小明.",
    async trace(ask) {
      const { results } = await ask("search", { query: "Tell me about 王小明." });
      const isContact = ({ id }: { readonly id: string }): boolean => id.startsWith("contact:");
      await ask("fetch", { id: results.find(isContact).id });
    },
    facts: (records) => [
      "xiaoming.wang@ninemountains.example.com",
      ...idsOf(untilNow("王小明", records).slice(0, 1)),
      records.contact("王小明").memory ?? "no memory",
    ],
  },
  {
    asked: "What is the budget for Ann Lee's second shop?",
    async trace(ask) {
      const { results } = await ask("search", { query: "What is the budget for Ann Lee's second shop?" });
      await ask("fetch", { id: results[0].id });
    },
    facts: () => ["The budget for the second shop is $90k, $30k of it from a loan that depends on the winter figures."],
  },
  {
    asked: "Which of my talks with José Álvarez have no transcript?",
    trace: (ask, { now }) =>
      pages(ask, "list_sessions", { contact_name: "jose alvarez", has_transcript: false, to: now, limit: 25 }),
    facts: (records) =>
      idsOf(untilNow("José Álvarez", records).filter((session) => records.transcriptOf(session) === undefined)),
  },
  {
    asked: "What was said last in the newest recorded session with Ann Lee?",
    async trace(ask) {
      const { data } = await ask("list_sessions", { contact_name: "ann lee", has_transcript: true, limit: 1 });
      await ask("get_session_transcript", { session_id: data[0].id });
    },
    facts: ({ sessionsOf, transcriptOf }) =>
      sessionsOf("Ann Lee")
        .flatMap((session) => transcriptOf(session) ?? [])
        .slice(0, 1)
        .map(ends),
  },
  {
    asked: "What have I noted about Theo, Ann Lee's son?",
    trace: async (ask) => ask("search_notes", { contact_id: await idOf(ask, "ann lee"), query: "theo" }),
    facts: ({ contactNotesOf }) =>
      contactNotesOf("Ann Lee")
        .filter(({ content }) => hasWords(content, "theo"))
        .map(beginningOf),
  },
];

export const questions: readonly Question[] = [...first, ...more];
