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
import { joined, secondsIn, transcriptOf, turnsIn } from "./cues.ts";
import type { Entry } from "./entry.ts";
import type { Line } from "./lines.ts";

type Init = NonNullable<MessageInitShape<typeof RecordSchema>["record"]>;
type Json = Readonly<Record<string, unknown>>;

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
  const meetings = isJson(text) ? meetingsIn(text, basename(file)) : [meetingOf(text, basename(file))];
  if (meetings === undefined || meetings.length === 0) {
    const problem =
      "has no meeting that is known: must be WebVTT, SRT, a text, or the JSON of Fireflies, Granola, Otter or speech recognition";
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

/** Returns the meeting of a file of captions or text. It has no id, so its content identifies it. */
function meetingOf(text: string, file: string): Meeting {
  const turns = turnsIn(text);
  const provider = providerOf(text, file);
  const { title, start } = nameOf(file);
  const last = turns?.at(-1)?.end;
  return {
    externalId: `recording-${digestOf(text)}`,
    title,
    start,
    end: start === undefined || last === undefined ? undefined : new Date(start.getTime() + last * 1_000),
    source: provider ?? (/otter\.ai/i.test(text.slice(-1_000)) ? "otter" : "recording"),
    provider,
    url: undefined,
    transcript: turns === undefined ? text.trim() : transcriptOf(turns),
    notes: noNotes,
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

/** Returns the meetings of a JSON file; undefined if it has none. */
function meetingsIn(text: string, file: string): readonly Meeting[] | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  // Granola's cache is JSON within JSON.
  const cache = at(json, "cache");
  if (typeof cache === "string") return meetingsIn(cache, file);
  const state = at(cache, "state") ?? at(json, "state");
  const { documents, transcripts } = membersOf(state);
  if (isObject(documents)) {
    return Object.entries(documents).flatMap(([id, document]) =>
      isObject(document) && (document["deleted_at"] ?? null) === null
        ? meetingIn({ id, ...document, sentences: at(transcripts, id) }, "granola")
        : [],
    );
  }
  const data = at(json, "data") ?? json;
  const one = at(data, "transcript");
  const { transcripts: several } = membersOf(data);
  const list = isObject(one)
    ? [one]
    : (listOf(several) ?? listAt(data, "meetings") ?? listAt(data, "docs") ?? listAt(data, "notes"));
  if (list !== undefined) return list.flatMap((each) => meetingIn(each, "granola"));
  const speech = speechIn(data);
  if (speech !== undefined)
    return meetingIn({ id: digestOf(text), title: nameOf(file).title, sentences: speech }, "recording");
  if (!Array.isArray(data)) return meetingIn(data, "granola");
  const all = data as readonly unknown[];
  // Fireflies exports the sentences alone.
  return all.some((each) => at(each, "sentence") !== undefined)
    ? meetingIn({ id: digestOf(text), sentences: all }, "fireflies")
    : all.flatMap((each) => meetingIn(each, "granola"));
}

function digestOf(text: string): string {
  return hash("sha256", text).slice(0, 32);
}

/** The longest time in seconds in which somebody says a word. */
const maxWord = 20;

/** Returns what was said in the output of Whisper, AssemblyAI, Deepgram or Amazon Transcribe; undefined for others. */
function speechIn(json: unknown): readonly unknown[] | undefined {
  const results = at(json, "results");
  const lists = [json, results].flatMap((one) => [listAt(one, "segments"), listAt(one, "utterances")]);
  const found = [...lists, listAt(results, "audio_segments")].find((list) => list?.some((one) => textIn(one) !== ""));
  const words = found?.map((one) => textIn(one).split(" ").length).reduce((sum, count) => sum + count, 0) ?? 0;
  const end = at(found?.at(-1), "end");
  // AssemblyAI counts milliseconds.
  if (found === undefined || !Number.isInteger(end) || Number(end) < words * maxWord) return found;
  return found.map((one) => ({
    ...membersOf(one),
    start: Number(at(one, "start")) / 1_000,
    end: Number(at(one, "end")) / 1_000,
  }));
}

function textIn(sentence: unknown): string {
  const text = firstText(sentence, ["text", "raw_text", "sentence", "transcript"]) ?? "";
  return text.replace(/\s+/g, " ").trim();
}

/** Speech recognition counts the speakers that it hears: `0` or `A`. */
function counted(speaker: unknown): string | undefined {
  return /^(?:[A-Z]|\d{1,3})$/.test(String(speaker)) ? `Speaker ${String(speaker)}` : undefined;
}

function meetingIn(value: unknown, usual: string): readonly Meeting[] {
  if (!isObject(value)) return [];
  const { transcripts } = value;
  const id = firstText(value, ["id", "otid", "meeting_id", "document_id"]);
  const sentences =
    listAt(value, "sentences") ??
    listAt(value, "transcript") ??
    listOf(transcripts) ??
    listAt(value, "transcript_segments");
  const turns = sentences === undefined ? [] : joined(turnsOf(sentences));
  const summary = value["summary"];
  const isFireflies = sentences?.some((one) => at(one, "speaker_name") !== undefined) === true;
  const source = firstText(value, ["otid"]) === undefined ? (isFireflies ? "fireflies" : usual) : "otter";
  const transcript = turns.length > 0 ? transcriptOf(turns) : firstText(value, ["transcript", "transcript_text"]);
  const notes = {
    Summary:
      firstText(value, ["summary_markdown", "summary_text", "summary"]) ??
      firstText(summary, ["overview", "short_summary"]),
    "Action items": listed(at(summary, "action_items") ?? value["action_items"]),
    Notes: firstText(value, ["notes_markdown", "notes_plain"]),
  };
  if (id === undefined || (transcript ?? notes.Summary ?? notes.Notes) === undefined) return [];
  const event = at(value, "calendar_event") ?? at(value, "google_calendar_event");
  const start =
    dateOf(firstText(event, ["scheduled_start_time"]) ?? firstText(at(event, "start"), ["dateTime"])) ??
    ["start_time", "date", "dateString", "created_at"]
      .map((name) => dateOf(value[name]))
      .find((one) => one !== undefined);
  const end =
    dateOf(firstText(event, ["scheduled_end_time"]) ?? firstText(at(event, "end"), ["dateTime"])) ??
    dateOf(value["end_time"]) ??
    afterMinutes(start, value["duration"]);
  return [
    {
      externalId: `${source}-${id}`.slice(0, 180),
      title: firstText(value, ["title", "topic", "name"]),
      start,
      end,
      source,
      provider: undefined,
      url: firstText(value, ["meeting_link"]),
      transcript,
      notes,
    },
  ];
}

/** Fireflies has the duration in minutes. */
function afterMinutes(start: Date | undefined, minutes: unknown): Date | undefined {
  return start !== undefined && typeof minutes === "number" && minutes > 0 && minutes < 10_000
    ? new Date(start.getTime() + minutes * 60_000)
    : undefined;
}

const voices: ReadonlyMap<string | undefined, string> = new Map([
  ["microphone", "Me"],
  ["system", "Them"],
  ["speaker", "Them"],
]);

function turnsOf(sentences: readonly unknown[]): readonly Turn[] {
  const firstTime = sentences.map((one) => dateOf(at(one, "start_timestamp"))).find((one) => one !== undefined);
  return sentences.flatMap((one) => {
    const text = textIn(one);
    const speaker =
      counted(at(one, "speaker")) ??
      firstText(one, ["speaker_name", "speaker", "speakerName", "speaker_label"]) ??
      firstText(at(one, "speaker"), ["name"]) ??
      voices.get(firstText(one, ["source"]) ?? firstText(at(one, "speaker"), ["source"]));
    const times = ["start", "end"].map((which) => timeOf(one, which, firstTime));
    return text === "" ? [] : [{ speaker, start: times[0], end: times[1], text }];
  });
}

function timeOf(sentence: unknown, which: string, first: Date | undefined): number | undefined {
  const exact = dateOf(at(sentence, `${which}_timestamp`));
  if (exact !== undefined && first !== undefined) return Math.max(0, (exact.getTime() - first.getTime()) / 1_000);
  const said = at(sentence, `${which}_time`) ?? at(sentence, `${which}Time`) ?? at(sentence, which);
  if (typeof said === "number") return said >= 0 ? said : undefined;
  if (typeof said !== "string") return undefined;
  return /^\d{1,6}(?:\.\d+)?$/.test(said) ? Number(said) : secondsIn(said);
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function at(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

function membersOf(value: unknown): Json {
  return isObject(value) ? value : {};
}

function listOf(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? (value as readonly unknown[]) : undefined;
}

function listAt(value: unknown, name: string): readonly unknown[] | undefined {
  return listOf(at(value, name));
}

/** Returns the first of these members that is a text. */
function firstText(value: unknown, names: readonly string[]): string | undefined {
  return names
    .map((name) => at(value, name))
    .find((one): one is string => typeof one === "string" && one.trim() !== "");
}

/** Returns a text, or a list as lines. */
function listed(value: unknown): string | undefined {
  if (typeof value === "string") return value.trim() === "" ? undefined : value.trim();
  if (!Array.isArray(value)) return undefined;
  const items = (value as readonly unknown[]).flatMap((one) =>
    typeof one === "string" ? [one] : (firstText(one, ["text"]) ?? []),
  );
  return items.length === 0 ? undefined : items.map((one) => `- ${one}`).join("\n");
}

function dateOf(value: unknown): Date | undefined {
  if (typeof value !== "number" && typeof value !== "string") return undefined;
  // A date without an offset from UTC is not an instant.
  if (typeof value === "string" && !/^\d{4}-\d\d-\d\d(?:$|T.*(?:Z|[+-]\d\d:?\d\d)$)/.test(value)) return undefined;
  const date = new Date(value);
  return Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9_999 ? undefined : date;
}
