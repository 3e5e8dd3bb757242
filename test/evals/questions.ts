// Everyday questions about the demo records: the ten that users ask assistants first, and others.
import { beginningOf, dateOf, hasWords, idsOf, isArchived, nameOf } from "./records.ts";
import type { Contact, Note, Records, Session } from "./records.ts";
import { SessionNoteType } from "../../src/gen/records/v1/sessions_pb.ts";
import type { CallTool, Question } from "./trace.ts";

async function pages(callTool: CallTool, tool: string, given: Readonly<Record<string, unknown>>): Promise<void> {
  for (let offset: number | null = 0; offset !== null; ) {
    const { pagination } = await callTool(tool, { ...given, ...(offset > 0 && { offset }) });
    offset = pagination.next_offset as number | null;
  }
}

/** The id of the contact with this name. */
async function idOf(callTool: CallTool, query: string): Promise<string> {
  return (await callTool("search_contacts", { query, brief: true, limit: 5 }))["data"][0].id as string;
}

const untilNow = (name: string, { sessionsOf, isPast }: Records): Session[] => sessionsOf(name).filter(isPast);
/** The next meeting, its contact, and the notes prepared for it. */
function nextMeeting({ sessions, isPast, personOf, notesOf }: Records): string[] {
  const next = sessions.filter((one) => one.sessionDate !== undefined && !isPast(one)).at(-1);
  return next === undefined ? [] : [...idsOf([next]), personOf(next), ...notesOf(next).map(beginningOf)];
}
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
    prompt: "Summarize all sessions with Ann Lee.",
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
    facts: nextMeeting,
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

/** Questions from a usability test that revealed gaps in the tools. */
const lacking: readonly Question[] = [
  {
    prompt: "What have I agreed with Søren Ødegård?",
    trace: async (callTool) =>
      callTool("search_notes", { contact_id: await idOf(callTool, "soren odegard"), kind: "session", limit: 5 }),
    facts: (records) =>
      records.sessionsOf("Søren Ødegård").flatMap(records.notesOf).sort(newest).slice(0, 5).map(beginningOf),
  },
  {
    prompt: "Prepare me for my next meeting.",
    async trace(callTool) {
      const { data } = await callTool("list_sessions", { order: "soonest", limit: 1 });
      await callTool("get_session", { session_id: data[0].id });
    },
    facts: nextMeeting,
  },
  {
    prompt: "Whom have I not met in the last three months?",
    trace: (callTool, { day }) => callTool("search_contacts", { last_session_before: day(-90), brief: true }),
    facts: ({ contacts, sessions, isPast, day }) => {
      const isLong = ({ id }: Contact): boolean => {
        const [last] = sessions.filter((one) => one.contactId === id && one.sessionDate !== undefined && isPast(one));
        return last !== undefined && dateOf(last) < day(-90);
      };
      return contacts
        .filter((one) => !isArchived(one) && isLong(one))
        .sort(latestChange)
        .slice(0, 25)
        .map(nameOf);
    },
  },
  {
    prompt: "Which sessions of the last two months have no notes?",
    trace: (callTool, { day }) =>
      pages(callTool, "list_sessions", { has_notes: false, from: day(-62), to: day(-1), limit: 25 }),
    facts: ({ sessionsBetween, day, notesOf }) =>
      idsOf(sessionsBetween(day(-62), day(-1)).filter((one) => notesOf(one).length === 0)),
  },
  {
    prompt: "What did anyone say about pricing?",
    trace: (callTool) => callTool("search_transcripts", { query: "pricing" }),
    facts: ({ sessions, transcriptOf }) => {
      const lines = sessions.map((one) =>
        (transcriptOf(one) ?? "").split("\n").find((line) => hasWords(line, "pricing")),
      );
      return lines.flatMap((line) => line ?? []).slice(0, 3);
    },
  },
  {
    prompt: "Who is involved with Saltmarsh?",
    async trace(callTool) {
      await callTool("search_contacts", { query: "saltmarsh", brief: true });
      await callTool("search_contacts", { query: "saltmarsh", in_notes: true, brief: true });
    },
    facts: ({ contacts }) =>
      contacts
        .filter((one) => hasWords([one.email, one.notes, one.memory].join(" "), "saltmarsh"))
        .filter((one) => !isArchived(one))
        .map(nameOf),
  },
  {
    prompt: "What did Tomáš Růžička and Yael Ben-David say about pricing?",
    async trace(callTool) {
      await callTool("search_transcripts", { contact_id: await idOf(callTool, "tomas ruzicka"), query: "pricing" });
      await callTool("search_notes", { query: "pricing", limit: 10 });
    },
    facts: ({ sessionsOf, transcriptOf, notes }) => [
      ...sessionsOf("Tomáš Růžička")
        .flatMap((one) => (transcriptOf(one) ?? "").split("\n").find((line) => hasWords(line, "pricing")) ?? [])
        .slice(0, 1),
      ...notes
        .filter(({ content }) => hasWords(content, "pricing"))
        .slice(0, 1)
        .map(beginningOf),
    ],
  },
  {
    prompt: "When did I last meet Ann Lee?",
    trace: (callTool) => callTool("search_contacts", { query: "ann lee", brief: true, limit: 1 }),
    facts: (records) => untilNow("Ann Lee", records).slice(0, 1).map(dateOf),
  },
  {
    prompt: "Whose phone number ends in 42?",
    trace: (callTool) => callTool("search_contacts", { phone_ends_with: "42", brief: true }),
    facts: ({ contacts }) => contacts.filter((one) => !isArchived(one) && /42\D*$/.test(one.phone ?? "")).map(nameOf),
  },
  {
    prompt: "What was noted about hiring in the last year, and with whom?",
    trace: (callTool, { day }) => callTool("search_notes", { query: "hiring", from: day(-365), limit: 5 }),
    facts: ({ notesBetween, day }) =>
      notesBetween(day(-365), day(0))
        .filter(({ content }) => hasWords(content, "hiring"))
        .sort(newest)
        .slice(0, 5)
        .map(beginningOf),
  },
  {
    prompt: "Which notes did colleagues comment on?",
    trace: (callTool) => callTool("search_notes", { note_type: "reader_comment", limit: 10 }),
    facts: ({ notes }) =>
      notes
        .filter((one) => "type" in one && one.type === SessionNoteType.READER_COMMENT)
        .slice(0, 10)
        .map(beginningOf),
  },
  {
    prompt: "Show my newest notes.",
    trace: (callTool) => callTool("search_notes", { limit: 5 }),
    facts: ({ notes }) => notes.slice(0, 5).map(beginningOf),
  },
];

/** More questions, based on the tool descriptions. */
const others: readonly Question[] = [
  {
    prompt: "Which account am I signed in to?",
    trace: (callTool) => callTool("whoami", {}),
    facts: () => ["@example.com"],
  },
  {
    prompt: "What is on my calendar in the next month, in order?",
    trace: (callTool, { day }) => callTool("list_sessions", { order: "soonest", to: day(31), limit: 25 }),
    facts: ({ sessions, isPast, day }) =>
      idsOf(
        sessions
          .filter((one) => one.sessionDate !== undefined && !isPast(one) && dateOf(one) <= day(31))
          .reverse()
          .slice(0, 25),
      ),
  },
  {
    prompt: "What was prepared for the meetings of the last month?",
    trace: (callTool, { day }) => callTool("search_notes", { note_type: "ai_meeting_prep", from: day(-31), limit: 10 }),
    facts: ({ notesBetween, day }) =>
      notesBetween(day(-31), day(0))
        .filter((one) => "type" in one && one.type === SessionNoteType.AI_MEETING_PREP)
        .sort(newest)
        .slice(0, 10)
        .map(beginningOf),
  },
  {
    prompt: "How can I reach Søren Odegrad? (misspelled)",
    trace: (callTool) => callTool("search_contacts", { query: "soren odegrad", brief: true }),
    facts: () => ["soren@fjordlys.example.net"],
  },
  {
    prompt: "What did I write about my contacts in the last week, not about sessions?",
    trace: (callTool, { day }) => callTool("search_notes", { kind: "contact", from: day(-7), limit: 10 }),
    facts: ({ notesBetween, day }) =>
      notesBetween(day(-7), day(0))
        .filter((one) => "contactId" in one)
        .sort(newest)
        .slice(0, 10)
        .map(beginningOf),
  },
  {
    prompt: "Is there a contact named 이서연, and what is the phone number?",
    trace: (callTool) => callTool("search_contacts", { query: "서연", brief: true }),
    facts: () => ["tel:+1-206-555-0164"],
  },
  {
    prompt: "Which of Ann Lee's sessions were about pricing?",
    trace: (callTool) => callTool("list_sessions", { contact_name: "ann lee", query: "pricing", limit: 25 }),
    facts: ({ sessionsOf }) => idsOf(sessionsOf("Ann Lee").filter(({ title }) => hasWords(title, "pricing"))),
  },
  {
    prompt: "Quote what Ann Lee said about the shop most recently.",
    trace: async (callTool) =>
      callTool("search_transcripts", { contact_id: await idOf(callTool, "ann lee"), query: "shop", limit: 1 }),
    facts: ({ sessionsOf, transcriptOf }) =>
      sessionsOf("Ann Lee")
        .flatMap((one) => (transcriptOf(one) ?? "").split("\n").find((line) => hasWords(line, "shop")) ?? [])
        .slice(0, 1),
  },
  {
    prompt: "Whose address is soren@fjordlys.example.net?",
    trace: (callTool) => callTool("search_contacts", { query: "soren@fjordlys.example.net", brief: true }),
    facts: () => ["Søren Ødegård"],
  },
  {
    prompt: "Who called from 07700 900942?",
    trace: (callTool) => callTool("search_contacts", { query: "07700 900942", brief: true }),
    facts: () => ["Σοφία Θεοδώρου"],
  },
  {
    prompt: "What do I know about Deepa Banerjee?",
    trace: async (callTool) => callTool("get_contact", { contact_id: await idOf(callTool, "deepa banerjee") }),
    facts: (records) => [
      ...idsOf(untilNow("Deepa Banerjee", records).slice(0, 1)),
      ...records.contactNotesOf("Deepa Banerjee").slice(0, 1).map(beginningOf),
    ],
  },
  {
    prompt: "Which archived contacts are named Novotný?",
    trace: (callTool) => callTool("search_contacts", { query: "novotny", state: "any", brief: true }),
    facts: ({ contacts }) => contacts.filter(({ fullName }) => hasWords(fullName, "novotný")).map(nameOf),
  },
];

function newest(one: Note, other: Note): number {
  return Number((other.createdAt?.seconds ?? 0n) - (one.createdAt?.seconds ?? 0n));
}

function latestChange(one: Contact, other: Contact): number {
  return Number((other.updatedAt?.seconds ?? 0n) - (one.updatedAt?.seconds ?? 0n));
}

/** All questions, each with the calls by which an assistant finds the facts. */
export const questions: readonly Question[] = [...first, ...more, ...lacking, ...others];
