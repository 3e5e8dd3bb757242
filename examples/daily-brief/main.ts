// Prints the sessions of a day, each with its contact, its preparation and the last notes.
import type { SessionDetail, SessionSummary } from "../../client/src/index.ts";
import { RecordsClient } from "../../client/src/index.ts";
import { connection } from "../connection.ts";

const lastNotes = 3;
const noteLength = 160;
const client = new RecordsClient(connection());
const [, , named] = process.argv;
const today = new Date().toISOString().slice(0, 10);

if (!(await showDay(named ?? today))) await showNext(named ?? today);

/** Prints a day's sessions; false if it has none. */
async function showDay(day: string): Promise<boolean> {
  const sessions: SessionDetail[] = [];
  for await (const { id } of client.sessions.all({ from: day, to: day })) sessions.push(await client.sessions.get(id));
  console.log(`# ${day}: ${sessions.length === 1 ? "1 session" : `${sessions.length} sessions`} (times in UTC)`);
  // The list is newest first, and a day begins in the morning.
  for (const session of sessions.reverse()) await show(session);
  return sessions.length > 0;
}

async function show({ title, session_date, client: person, conference_url, notes }: SessionDetail): Promise<void> {
  console.log(`\n## ${session_date?.slice(11, 16) ?? "--:--"} ${title ?? "Untitled"}`);
  if (conference_url !== null) console.log(conference_url);
  const preparation = notes.find(({ type }) => type === "ai_meeting_prep")?.content;
  if (preparation) console.log(`\n${preparation}`);
  if (person === null) return;
  const { full_name, inferred_name, email, phone, notes_timeline } = await client.contacts.get(person.id);
  console.log(
    `\n${[full_name ?? inferred_name ?? "Unnamed", email, phone].filter((part) => part !== null).join(", ")}`,
  );
  for (const { created_at, content } of notes_timeline.slice(0, lastNotes))
    console.log(`- ${created_at.slice(0, 10)} ${inBrief(content)}`);
}

function inBrief(text: string): string {
  const characters = [...text.replace(/\s+/g, " ")];
  return characters.length <= noteLength ? characters.join("") : `${characters.slice(0, noteLength - 1).join("")}…`;
}

/** Prints the sessions of the next day that has any. */
async function showNext(day: string): Promise<void> {
  let next: SessionSummary | undefined;
  for await (const session of client.sessions.all({ from: day })) next = session;
  const date = next?.session_date?.slice(0, 10);
  if (date === undefined) return console.log("No session is planned after this day.");
  console.log();
  await showDay(date);
}
