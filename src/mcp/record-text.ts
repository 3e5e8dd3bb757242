// Text of a record for a model: every field that is set, also one that a later version of the interface adds. A field
// of one line has no line break, and each line of a longer text is quoted, so that no text of a record can look like a
// heading or a list item of ours.
import { firstVisible, linesOfText, oneLine } from "../text/text.ts";

/** A message as REST writes it. */
export type Body = Readonly<Record<string, unknown>>;

/** The text of a record. */
export interface RecordText {
  readonly text: string;
  /**
   * Where a text begins whose lines are quoted only in a page, because a transcript can have a million of them; the end
   * of the text if there is none.
   */
  readonly quotedFrom: number;
}

/** What the text of a session consists of. */
export interface SessionParts {
  /** As one line. */
  readonly title: string;
  readonly session: Body;
  /** The name of the session's contact, as one line. */
  readonly person: string;
  /** The transcript with its recording. */
  readonly spoken: Body;
}

/** Labels of fields, where the name of the field would be longer or less clear. */
const labels: Readonly<Record<string, string>> = {
  client: "With",
  duration_seconds: "Recording seconds",
  recording_status: "Recording",
  session_date: "Date",
  session_date_end: "End",
};

/** When a record was stored. `fetch` returns these in its metadata, so that the text is shorter. */
const stored = ["created_at", "updated_at"];

/** Returns a contact with its notes and last sessions as text. The title is one line. */
export function contactText(title: string, contact: Body): RecordText {
  const named = valueText(contact["inferred_name"]) === title ? ["inferred_name"] : [];
  const shown = ["id", "full_name", ...named, "notes", "memory", "notes_timeline", "recent_sessions", ...stored];
  const parts = [
    `# ${title}`,
    facts(contact, shown).join("\n"),
    quotedSection("Notes", contact["notes"]),
    quotedSection("Memory", contact["memory"]),
    section("Timeline", (contact["notes_timeline"] as readonly Body[]).map(timelineLine).join("\n")),
    section("Recent sessions", (contact["recent_sessions"] as readonly Body[]).map(sessionLine).join("\n")),
  ];
  return whole(joined(parts));
}

/** Returns a session with its notes and transcript as text. */
export function sessionText({ title, session, person, spoken }: SessionParts): RecordText {
  const client = session["client"] as Body | null;
  const recording = (spoken["recording"] ?? {}) as Body;
  const lines = [
    ...facts({ ...session, client: client && clientText(person, client) }, ["id", "title", "notes", ...stored]),
    ...facts(spoken, ["session_id", "transcript", "recording"]),
    // No tool accepts the id of a recording.
    ...facts(recording, ["id"]),
  ];
  const { transcript } = spoken;
  const parts = [`# ${title}`, lines.join("\n"), ...(session["notes"] as readonly Body[]).map(noteSection)];
  if (!isSet(transcript)) return whole(joined(parts));
  const before = `${joined([...parts, "## Transcript"])}\n`;
  return { text: before + String(transcript), quotedFrom: before.length };
}

function clientText(person: string, client: Body): string {
  const email = valueText(client["email"]);
  const values = isSet(client["email"]) && email !== person ? [email] : [];
  const others = details(client, ["id", "full_name", "email"]);
  return `${[person, ...values, ...others].join(", ")} (contact:${String(client["id"])})`;
}

/** Leaves out the id of the note, which no tool accepts, and the time of day. */
function timelineLine(note: Body): string {
  const [written, changed] = [day(note["created_at"]), day(note["updated_at"])];
  const about = details(note, ["id", "content", ...stored]);
  const begin = `- ${written}${inBrackets(changed === written ? about : [...about, `changed ${changed}`])}:`;
  const lines = linesOfText(String(note["content"]));
  return lines.length === 1 ? `${begin} ${lines.join("")}` : [begin, ...lines.map((line) => `  > ${line}`)].join("\n");
}

function sessionLine(session: Body): string {
  const title = oneLine(firstVisible(session["title"] as string | null) ?? "Untitled");
  const about = [title, ...details(session, ["id", "title", "session_date"])];
  return `- ${day(session["session_date"])}: ${about.join(", ")} (session:${String(session["id"])})`;
}

/** Leaves out the position, by which the notes are sorted, and the slug of the title. */
function noteSection(note: Body): string {
  const title = oneLine(firstVisible(note["title"] as string | null) ?? "Note");
  const heading = `## ${title}${inBrackets(details(note, ["title", "title_slug", "content", "position"]))}`;
  return isSet(note["content"]) ? `${heading}\n${quoted(note["content"])}` : heading;
}

/** Returns a line for each field that is set, except those in `shown`, which the caller shows or leaves out. */
function facts(record: Body, shown: readonly string[]): string[] {
  return setFields(record, shown).map(([name, value]) => `${labelOf(name)}: ${value}`);
}

/** Returns the same as `facts`, as parts of a line. */
function details(record: Body, shown: readonly string[]): string[] {
  return setFields(record, shown).map(([name, value]) => `${labelOf(name).toLowerCase()} ${value}`);
}

function setFields(record: Body, shown: readonly string[]): (readonly [name: string, value: string])[] {
  return Object.entries(record).flatMap(([name, value]) =>
    shown.includes(name) || !isSet(value) ? [] : [[name, valueText(value)] as const],
  );
}

/** Returns the value of a field as one line. */
function valueText(value: unknown): string {
  return oneLine(typeof value === "object" ? JSON.stringify(value) : String(value));
}

function isSet(value: unknown): boolean {
  return value !== null && value !== undefined && value !== "" && !(Array.isArray(value) && value.length === 0);
}

/** Returns "Conference URL" for `conference_url`, and "Archived" for `archived_at`. */
function labelOf(name: string): string {
  const words = name.replace(/_at$/, "").replace(/_url$/, "_URL").replaceAll("_", " ");
  return labels[name] ?? words.charAt(0).toUpperCase() + words.slice(1);
}

function inBrackets(parts: readonly string[]): string {
  return parts.length === 0 ? "" : ` (${parts.join(", ")})`;
}

function section(title: string, content: string): string {
  return content === "" ? "" : `## ${title}\n${content}`;
}

function quotedSection(title: string, content: unknown): string {
  return isSet(content) ? section(title, quoted(content)) : "";
}

/** Returns a text with `> ` before each of its lines. */
function quoted(content: unknown): string {
  return `> ${linesOfText(String(content)).join("\n> ")}`;
}

/** Returns a text of which nothing is left to be quoted. */
function whole(text: string): RecordText {
  return { text, quotedFrom: text.length };
}

/**
 * Returns a page of a text, from `start` to `end`, with its lines quoted. It marks the rest of a line, which could look
 * like a line of ours.
 */
export function shownPage({ text, quotedFrom }: RecordText, start: number, end: number): string {
  if (start >= end) return "";
  const own = text.slice(start, Math.max(start, Math.min(end, quotedFrom)));
  const spoken = text.slice(Math.max(start, quotedFrom), end);
  if (own !== "") return continuationMark(text, start) + own + (spoken === "" ? "" : quoted(spoken));
  const isLine = start === quotedFrom || linesOfText(text.slice(start - 1, start)).length > 1;
  return isLine ? quoted(spoken) : quoted(`… ${spoken}`);
}

/** Returns what a page that begins at `start` has to begin with; nothing if a line begins there. */
function continuationMark(text: string, start: number): string {
  const line = start === 0 ? "" : text.slice(text.lastIndexOf("\n", start - 1) + 1, start);
  if (line === "") return "";
  return line.trimStart().startsWith(">") ? "> … " : "… ";
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n\n");
}

function day(instant: unknown): string {
  return typeof instant === "string" ? instant.slice(0, 10) : "undated";
}
