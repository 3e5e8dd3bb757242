// Reads what recorders of meetings export, as a session with its transcript and notes: captions, texts, and the JSON of
// Fireflies, Granola, Otter and speech recognition.
import { hash } from "node:crypto";
import { basename } from "node:path";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { RecordSchema } from "../../gen/records/ingest/v1/import_pb.ts";
import { SessionNoteType } from "../../gen/records/v1/sessions_pb.ts";
import type { Turn } from "./cues.ts";
import { maxLength, transcriptOf, turnsIn } from "./cues.ts";
import type { Entry } from "./entry.ts";
import type { Line } from "./lines.ts";
import type { Json } from "./members.ts";
import { at, dateOf, firstText, isObject, jsonIn, listAt, listOf, membersOf } from "./members.ts";
import { turnsInTable } from "./speech-table.ts";
import { spokenIn } from "./spoken.ts";

type Init = NonNullable<MessageInitShape<typeof RecordSchema>["record"]>;

/** A meeting, by the mapping of the guide. */
interface Meeting {
  readonly externalId: string;
  readonly title: string | undefined;
  readonly start: Date | undefined;
  readonly end: Date | undefined;
  readonly source: string;
  readonly provider: string | undefined;
  readonly url: string | undefined;
  readonly transcript: string | undefined;
  /** The texts of notes by their title. The AI of the recorder wrote the summary and the action items. */
  readonly notes: Readonly<Record<"Summary" | "Action items" | "Notes", string | undefined>>;
}

const [maxTitle, maxNote] = [1_000, 100_000];
/** What is longer than this in seconds is a chat, and not one meeting. */
const maxDay = 86_400;

/** Reads a file as sessions, each followed by its transcript and its notes. `file` names it. */
export async function* readRecording(chunks: AsyncIterable<readonly Line[]>, file: string): AsyncIterable<Entry> {
  const lines: string[] = [];
  for await (const part of chunks)
    for (const { number, text, problem } of part) {
      if (problem !== undefined) {
        yield { line: number, input: "", content: { problem } };
        return;
      }
      lines.push(text);
    }
  const text = lines.join("\n");
  if (text.trim() === "") return;
  const name = basename(file);
  const { meetings, reason } = isJson(text) ? meetingsIn(text, name) : { meetings: [meetingOf(text, name)] };
  if (meetings.length === 0) {
    const problem =
      reason ??
      'has nothing that is known: must be a list of contacts with emails or phones, of who says what, or of records such as {"contact": {…}}';
    yield { line: 1, input: text.slice(0, 1_000), content: { problem } };
    return;
  }
  for (const meeting of meetings) yield* entriesOf(meeting);
}

function* entriesOf(meeting: Meeting): Iterable<Entry> {
  const { externalId, title, start, end, source, provider, url, transcript, notes } = meeting;
  const entry = (record: Init, input = ""): Entry => ({
    line: 1,
    input,
    content: { record: create(RecordSchema, { record }) },
  });
  yield entry({
    case: "session",
    value: {
      externalId,
      source,
      ...(title === undefined ? {} : { title: title.slice(0, maxTitle) }),
      ...(start === undefined ? {} : { sessionDate: timestampFromDate(start) }),
      ...(end === undefined ? {} : { sessionDateEnd: timestampFromDate(end) }),
      ...(provider === undefined ? {} : { conferenceProvider: provider }),
      ...(url === undefined ? {} : { conferenceUrl: url }),
    },
  });
  if (transcript !== undefined)
    yield entry({ case: "transcript", value: { sessionExternalId: externalId, transcript } }, transcript);
  for (const [position, [name, content]] of Object.entries(notes).entries()) {
    if (content === undefined) continue;
    const type = name === "Notes" ? SessionNoteType.USER_MANUAL : SessionNoteType.AI_PREDEFINED;
    const value = { externalId: `${externalId}/${name}`, sessionExternalId: externalId, title: name, position, type };
    yield entry({ case: "sessionNote", value: { ...value, content: content.slice(0, maxNote) } });
  }
}

const noNotes = { Summary: undefined, "Action items": undefined, Notes: undefined } as const;

/** The properties that note-takers write in YAML above a text. */
const properties = /^---[ \t]*\r?\n(.+?)\r?\n---[ \t]*\r?\n/s;

/** Returns the value of a property in YAML, if it is a text in one line. */
function valueIn(yaml: string, name: "title" | "date"): string | undefined {
  const line = yaml.split("\n").find((one) => one.startsWith(`${name}:`)) ?? "";
  const value = line.slice(name.length + 1).trim();
  const quote = ["'", '"'].find((one) => value.length > 1 && value.startsWith(one) && value.endsWith(one));
  const escaped = quote === "'" ? "''" : '\\"';
  const text = quote === undefined ? value : value.slice(1, -1).replaceAll(escaped, quote);
  return text === "" ? undefined : text;
}

/** Returns the meeting of a file of captions or text. It has no id, so its content identifies it. */
function meetingOf(whole: string, file: string): Meeting {
  const [above = "", said = ""] = properties.exec(whole) ?? [];
  const yaml = said.replaceAll("\r\n", "\n");
  const text = whole.slice(above.length);
  const turns = turnsInTable(text) ?? turnsIn(text);
  const provider = providerOf(text, file);
  const named = nameOf(file);
  const [title, start] = [valueIn(yaml, "title") ?? named.title, dateOf(valueIn(yaml, "date")) ?? named.start];
  const last = turns?.at(-1)?.end;
  return {
    externalId: `recording-${digestOf(whole)}`,
    title,
    start,
    end: start === undefined || last === undefined ? undefined : new Date(start.getTime() + last * 1_000),
    source: provider ?? (/otter\.ai/i.test(text.slice(-1_000)) ? "otter" : "recording"),
    provider,
    url: undefined,
    transcript: turns === undefined ? text.trim() : transcriptOf(turns),
    notes: yaml === "" ? noNotes : { ...noNotes, Notes: yaml },
  };
}

function providerOf(text: string, file: string): string | undefined {
  if (/^GMT\d{8}-\d{6}/.test(file) || /^audio_transcript\b/.test(file)) return "zoom";
  if (/^[\da-f-]{36}\/\d+-\d+$/m.test(text.slice(0, 10_000))) return "teams";
  return /\(\d{4}-\d\d-\d\d .{1,30}\) ?- ?Transcript/i.test(file) ? "google_meet" : undefined;
}

/** Returns the title in the name of a file, and the start if it has an offset from UTC. */
function nameOf(file: string): { readonly title: string; readonly start: Date | undefined } {
  const zoom = /^GMT(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)_?/.exec(file);
  const meet = /\((\d{4}-\d\d-\d\d) (?:at )?(\d{1,2})[:_](\d\d) GMT(?:([+-])(\d{1,2})(?:[:_]?(\d\d))?)?\)/.exec(file);
  const [, year, month, day, hour, minute, second] = zoom ?? [];
  const [, date, meetHour = "", meetMinute = "", sign = "+", offset = "0", offsetMinute = "00"] = meet ?? [];
  const time = zoom
    ? `${year}-${month}-${day}T${hour}:${minute}:${second}Z`
    : `${date}T${meetHour.padStart(2, "0")}:${meetMinute}:00${sign}${offset.padStart(2, "0")}:${offsetMinute}`;
  const start = zoom === null && meet === null ? undefined : dateOf(time);
  const stem = file.replace(/(?:\.transcript)?\.[a-z]{2,5}$/i, "");
  const title = (meet === null ? stem.slice(zoom?.[0].length ?? 0) : stem.slice(0, file.indexOf("("))).trim();
  return { title: title === "" ? stem : title, start };
}

/** Returns whether a file is JSON, or would be if it were complete. A text can begin with `[00:00:15]`. */
function isJson(text: string): boolean {
  if (/^\s*(?:\{|\[\s*\{)/.test(text)) return true;
  try {
    return /^\s*\[/.test(text) && Array.isArray(JSON.parse(text));
  } catch {
    return false;
  }
}

/** Returns whether a JSON file has a meeting. */
export function hasMeeting(text: string, file: string): boolean {
  return meetingsIn(text, file).meetings.length > 0;
}

/** Returns the meetings of a JSON file, or the reason why it cannot be read. */
function meetingsIn(text: string, file: string): { readonly meetings: readonly Meeting[]; readonly reason?: string } {
  let json: unknown;
  try {
    json = jsonIn(text);
  } catch (error) {
    return { meetings: [], reason: `is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
  const kind = [at(json, "0"), at(at(json, "0"), "0")].find((one) => typeof one === "string");
  // jCal and jCard
  const form = kind === "vcalendar" ? "iCalendar (.ics)" : kind === "vcard" ? "vCard (.vcf)" : undefined;
  if (form !== undefined) return { meetings: [], reason: `is a ${kind} in JSON, which is not read: export ${form}` };
  // Granola's cache is JSON within JSON.
  const cache = at(json, "cache");
  return typeof cache === "string" ? meetingsIn(cache, file) : { meetings: meetingsOf(json, text, file) };
}

function meetingsOf(json: unknown, text: string, file: string): readonly Meeting[] {
  const state = at(at(json, "cache"), "state") ?? at(json, "state");
  const { documents, transcripts } = membersOf(state);
  if (isObject(documents)) {
    return Object.entries(documents).flatMap(([id, document]) =>
      isObject(document) && (document["deleted_at"] ?? null) === null
        ? meetingIn({ id, ...document, sentences: at(transcripts, id) })
        : [],
    );
  }
  const data = ["data", "meeting", "speech"].map((name) => at(json, name)).find((one) => one !== undefined) ?? json;
  const list = [
    data,
    ...["transcripts", "meetings", "docs", "notes", "callTranscripts", "items"].map((name) => at(data, name)),
  ]
    .map(listOf)
    .find((one) => one?.every(isMeeting));
  if (list !== undefined) return list.flatMap((each) => meetingIn(each));
  const transcript = at(data, "transcript");
  const one = isMeeting(transcript) ? transcript : data;
  const { title, start } = nameOf(file);
  return meetingIn(isObject(one) ? one : { sentences: one }, { id: digestOf(text), title, start });
}

/** Returns whether an item of a list is a meeting, and not something that was said in one. */
function isMeeting(value: unknown): boolean {
  return isObject(value) && ("title" in value || listAt(value, "transcript") !== undefined);
}

function digestOf(text: string): string {
  return hash("sha256", text).slice(0, 32);
}

/** Members that only Granola writes. */
const granola = ["notes_markdown", "notes_plain", "summary_markdown", "summary_text", "google_calendar_event"];

/** Returns the meeting of an object; nothing if it has no text. `usual` is what a file with one meeting says of it. */
function meetingIn(value: unknown, usual: Partial<Pick<Meeting, "title" | "start">> & { id?: string } = {}): Meeting[] {
  if (!isObject(value)) return [];
  const own = inSnakeCase(value);
  const id =
    idIn(own, ["id", "otid", "meeting_id", "document_id", "call_id", "recording_id", "session_id"]) ?? usual.id;
  const spoken = spokenIn(value);
  const [from, to] = [spoken[0]?.start ?? 0, spoken.at(-1)?.start ?? 0];
  const isDated = from > maxLength;
  // The turns of one meeting have times from its beginning, those of a chat of several days their dates.
  const zero = isDated && to - from < maxDay ? from : 0;
  const turns = spoken.map((turn) => ({ ...turn, start: turn.start && Math.max(0, turn.start - zero) }));
  const summary = own["summary"];
  const transcript = turns.length > 0 ? transcriptOf(turns) : firstText(own, ["transcript", "transcript_text", "text"]);
  const notes = {
    Summary:
      firstText(own, ["summary_markdown", "summary_text", "summary"]) ??
      firstText(summary, ["overview", "short_summary"]) ??
      firstText(own["default_summary"], ["markdown_formatted"]),
    "Action items": listed(at(summary, "action_items") ?? own["action_items"]),
    Notes: firstText(own, ["notes_markdown", "notes_plain", "notes"]),
  };
  if ((transcript ?? notes.Summary ?? notes.Notes) === undefined) return [];
  const source = sourceOf(value);
  const event = at(value, "calendar_event") ?? at(value, "google_calendar_event");
  const dateIn = (names: readonly string[]): Date | undefined =>
    names.map((name) => dateOf(own[name])).find((one) => one !== undefined);
  const start =
    dateOf(firstText(event, ["scheduled_start_time"]) ?? firstText(at(event, "start"), ["dateTime"])) ??
    dateIn(["start_time", "recording_start_time", "scheduled_start_time", "date", "date_string", "created_at"]);
  const end =
    dateOf(firstText(event, ["scheduled_end_time"]) ?? firstText(at(event, "end"), ["dateTime"])) ??
    dateIn(["end_time", "recording_end_time", "scheduled_end_time"]) ??
    after(start, own["duration"], turns);
  return [
    {
      externalId: `${source}-${id ?? digestOf(JSON.stringify(value))}`.slice(0, 180),
      title: firstText(own, ["title", "topic", "name"]) ?? usual.title,
      start: start ?? usual.start ?? (isDated ? new Date(from * 1_000) : undefined),
      end,
      source,
      provider: undefined,
      url: firstText(own, ["meeting_link"]),
      transcript,
      notes,
    },
  ];
}

/** Returns the members of an object by the names that most programs give them: `createdAt` is `created_at`. */
function inSnakeCase(value: Json): Json {
  const named = (name: string): string =>
    name
      .replace(/([a-z])(?=[A-Z])/g, "$1_")
      .toLowerCase()
      .replace(/_ms$/, "");
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [named(name), member]));
}

/** Returns the first of these members that is a text or a number. */
function idIn(value: Json, names: readonly string[]): string | undefined {
  const isId = (one: unknown): one is string | number =>
    typeof one === "number" || (typeof one === "string" && one.trim() !== "");
  return names
    .map((name) => value[name])
    .find(isId)
    ?.toString();
}

/** No meeting lasts longer, in minutes. */
const maxMinutes = 600;

/** Fireflies counts the minutes of a meeting. Others count seconds, for about as many of which somebody speaks. */
function after(start: Date | undefined, duration: unknown, turns: readonly Turn[]): Date | undefined {
  if (start === undefined || typeof duration !== "number" || duration <= 0 || duration > maxMinutes * 60)
    return undefined;
  const last = turns.at(-1);
  const spoken = (last?.end ?? last?.start ?? 0) - (turns[0]?.start ?? 0);
  const isSeconds = duration > maxMinutes || (spoken > duration / 2 && spoken < duration * 2);
  return new Date(start.getTime() + duration * (isSeconds ? 1_000 : 60_000));
}

/** Returns the program that wrote a meeting. */
function sourceOf(value: Json): string {
  if ("otid" in value) return "otter";
  const sentences = listAt(value, "sentences") ?? [];
  if (sentences.some((one) => at(one, "speaker_name") !== undefined)) return "fireflies";
  const said = [...sentences, ...(listAt(value, "transcript") ?? [])];
  const isGranola = granola.some((name) => name in value) || said.some((one) => at(one, "source") !== undefined);
  return isGranola ? "granola" : "recording";
}

/** Returns a text, or a list as lines. */
function listed(value: unknown): string | undefined {
  if (typeof value === "string") return value.trim() === "" ? undefined : value.trim();
  if (!Array.isArray(value)) return undefined;
  const items = (value as readonly unknown[]).flatMap((one) =>
    typeof one === "string" ? [one] : (firstText(one, ["text", "title", "description"]) ?? []),
  );
  return items.length === 0 ? undefined : items.map((one) => `- ${one}`).join("\n");
}
