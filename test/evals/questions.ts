// Twenty everyday questions over the demo's records: the ten that users ask assistants first, and ten more.
import { beginningOf, dateOf, hasWords, idsOf, isArchived, nameOf } from "./records.ts";
import type { Records, Session } from "./records.ts";
import type { CallTool, Question } from "./trace.ts";

/** A list page by page, to its end. */
async function pages(callTool: CallTool, tool: string, given: Readonly<Record<string, unknown>>): Promise<void> {
  for (let offset: number | null = 0; offset !== null; ) {
    const { pagination } = await callTool(tool, { ...given, ...(offset > 0 && { offset }) });
    offset = pagination.next_offset as number | null;
  }
}

/** The id of the contact of a name. */
async function idOf(callTool: CallTool, query: string): Promise<string> {
  return (await callTool("search_contacts", { query, brief: true, limit: 5 }))["data"][0].id as string;
}

const untilNow = (name: string, { sessionsOf, isPast }: Records): Session[] => sessionsOf(name).filter(isPast);
const ends = (text: string): string => text.trimEnd().split("\n").at(-1) ?? "";

const first: readonly Question[] = [
  {
    prompt: "Who did I meet last month about the second shop?",
    trace: (callTool, { day }) => callTool("list_sessions", { query: "second shop", from: day(-31), to: day(-1) }),
    facts: ({ sessionsBetween, day, personOf }) =>
      sessionsBetween(day(-31), day(-1))
        .filter(({ title, contactId }) => contactId !== undefined && hasWords(title, "second", "shop"))
        .map(personOf),
  },
  {
    prompt: "What is the latest note on the warehouse move?",
    trace: (callTool) => callTool("search_notes", { query: "warehouse move", limit: 1 }),
    facts: ({ notes }) =>
      notes
        .filter(({ content }) => hasWords(content, "warehouse", "move"))
        .slice(0, 1)
        .map(beginningOf),
  },
  {
    prompt: "What was said about the price in the sessions with Ann Lee?",
    trace: async (callTool) =>
      callTool("search_transcripts", { contact_id: await idOf(callTool, "ann lee"), query: "price" }),
    facts: ({ sessionsOf, transcriptOf }) =>
      sessionsOf("Ann Lee")
        .map((session) => (transcriptOf(session) ?? "").split("\n").filter((line) => hasWords(line, "price")))
        .filter(({ length }) => length > 0)
        .flatMap(([line = ""]) => line),
  },
  {
    prompt: "What is the phone number of José Álvarez?",
    trace: (callTool) => callTool("search_contacts", { query: "jose alvarez", brief: true, limit: 5 }),
    facts: () => ["+44 20 7946 0182"],
  },
  {
    prompt: "Summarise all sessions with Ann Lee.",
    bound: { calls: 5, tokens: 12_000 },
    async trace(callTool) {
      const { data } = await callTool("list_sessions", { contact_name: "ann lee", limit: 25 });
      await pages(callTool, "search_notes", { contact_id: data[0].client.id, kind: "session", limit: 25 });
    },
    facts: ({ sessionsOf, notesOf }) => {
      const sessions = sessionsOf("Ann Lee");
      return [...idsOf(sessions), ...sessions.flatMap(notesOf).map(beginningOf)];
    },
  },
  {
    prompt: "Which contacts have no email?",
    trace: (callTool) => pages(callTool, "search_contacts", { has_email: false, brief: true }),
    facts: ({ contacts }) => contacts.filter((one) => !isArchived(one) && one.email === undefined).map(nameOf),
  },
  {
    prompt: "Which sessions of the last month have no transcript?",
    trace: (callTool, { day }) =>
      pages(callTool, "list_sessions", { has_transcript: false, from: day(-31), to: day(-1), limit: 25 }),
    facts: ({ sessionsBetween, day, transcriptOf }) =>
      idsOf(sessionsBetween(day(-31), day(-1)).filter((session) => transcriptOf(session) === undefined)),
  },
  {
    prompt: "What happened on the day that I last met Ann Lee?",
    async trace(callTool, { now }) {
      const { data } = await callTool("list_sessions", { contact_name: "ann lee", to: now, limit: 1 });
      const day = String(data[0].session_date).slice(0, 10);
      await callTool("list_sessions", { from: day, to: day });
      await callTool("search_notes", { from: day, to: day });
    },
    facts: (records) => {
      const [last] = untilNow("Ann Lee", records);
      const day = last === undefined ? "" : dateOf(last);
      return [...idsOf(records.sessionsBetween(day, day)), ...records.notesBetween(day, day).map(beginningOf)];
    },
  },
  {
    prompt: "Who works on the warehouse move?",
    trace: (callTool) => pages(callTool, "list_sessions", { query: "warehouse move", limit: 25 }),
    facts: ({ sessions, personOf }) => [
      ...new Set(sessions.filter(({ title }) => hasWords(title, "warehouse", "move")).map(personOf)),
    ],
  },
  {
    prompt: "Which contacts are archived?",
    trace: (callTool) => pages(callTool, "search_contacts", { state: "archived", brief: true }),
    facts: ({ contacts }) => contacts.filter(isArchived).map(nameOf),
  },
];

const more: readonly Question[] = [
  {
    prompt: "What did Ann Lee and I agree to do at our last meeting with a transcript?",
    async trace(callTool, { now }) {
      const given = { contact_name: "ann lee", has_transcript: true, to: now, limit: 1 };
      await callTool("get_session", { session_id: (await callTool("list_sessions", given))["data"][0].id });
    },
    facts: (records) =>
      untilNow("Ann Lee", records)
        .filter((session) => records.transcriptOf(session) !== undefined)
        .slice(0, 1)
        .flatMap(records.notesOf)
        .map(beginningOf),
  },
  {
    prompt: "Whose number is +44 20 7946 0182?",
    trace: (callTool) => callTool("search_contacts", { query: "+44 20 7946 0182", brief: true }),
    facts: () => ["José Álvarez"],
  },
  {
    prompt: "What is the email address of Soren Odegard? (without the special letters)",
    trace: (callTool) => callTool("search_contacts", { query: "soren odegard", brief: true }),
    facts: () => ["soren@fjordlys.example.net"],
  },
  {
    prompt: "Who is my next meeting with, and what is prepared for it?",
    async trace(callTool, { now, day }) {
      const { data } = await callTool("list_sessions", { from: now, to: day(31), limit: 25 });
      await callTool("get_session", { session_id: data.at(-1).id });
    },
    facts: ({ sessions, isPast, personOf, notesOf }) => {
      const next = sessions.filter((one) => one.sessionDate !== undefined && !isPast(one)).at(-1);
      return next === undefined ? [] : [...idsOf([next]), personOf(next), ...notesOf(next).map(beginningOf)];
    },
  },
  {
    prompt: "How often did I meet Zoë Martin, and since when?",
    trace: (callTool, { now }) => pages(callTool, "list_sessions", { contact_name: "zoe martin", to: now, limit: 25 }),
    facts: (records) => idsOf(untilNow("Zoë Martin", records)),
  },
  {
    prompt: "Tell me about 王小明.",
    async trace(callTool) {
      const { results } = await callTool("search", { query: "Tell me about 王小明." });
      const isContact = ({ id }: { readonly id: string }): boolean => id.startsWith("contact:");
      await callTool("fetch", { id: results.find(isContact).id });
    },
    facts: (records) => [
      "xiaoming.wang@ninemountains.example.com",
      ...idsOf(untilNow("王小明", records).slice(0, 1)),
      // fetch quotes each line.
      (records.contact("王小明").memory ?? "no memory").replaceAll("\n", "\n> "),
    ],
  },
  {
    prompt: "What is the budget for Ann Lee's second shop?",
    async trace(callTool) {
      const { results } = await callTool("search", { query: "What is the budget for Ann Lee's second shop?" });
      await callTool("fetch", { id: results[0].id });
    },
    facts: () => ["The budget for the second shop is $90k, $30k of it from a loan that depends on the winter figures."],
  },
  {
    prompt: "Which of my talks with José Álvarez have no transcript?",
    trace: (callTool, { now }) =>
      pages(callTool, "list_sessions", { contact_name: "jose alvarez", has_transcript: false, to: now, limit: 25 }),
    facts: (records) =>
      idsOf(untilNow("José Álvarez", records).filter((session) => records.transcriptOf(session) === undefined)),
  },
  {
    prompt: "What was said last in the newest recorded session with Ann Lee?",
    async trace(callTool) {
      const { data } = await callTool("list_sessions", { contact_name: "ann lee", has_transcript: true, limit: 1 });
      await callTool("get_session_transcript", { session_id: data[0].id });
    },
    facts: ({ sessionsOf, transcriptOf }) =>
      sessionsOf("Ann Lee")
        .flatMap((session) => transcriptOf(session) ?? [])
        .slice(0, 1)
        .map(ends),
  },
  {
    prompt: "What have I noted about Theo, Ann Lee's son?",
    trace: async (callTool) => callTool("search_notes", { contact_id: await idOf(callTool, "ann lee"), query: "theo" }),
    facts: ({ contactNotesOf }) =>
      contactNotesOf("Ann Lee")
        .filter(({ content }) => hasWords(content, "theo"))
        .map(beginningOf),
  },
];

export const questions: readonly Question[] = [...first, ...more];
