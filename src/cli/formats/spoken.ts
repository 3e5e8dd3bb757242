// Finds who said what, and when, in the JSON of recorders and of speech recognition. Their members have many names, but
// all have lists of turns, sentences or words, each with a text and with a time or a speaker.
import type { Turn } from "./cues.ts";
import { joined, maxLength, secondsIn } from "./cues.ts";
import { at, dateOf, firstText, isObject, listAt, membersOf } from "./members.ts";

/** A word, a sentence or a turn. Words keep the blanks that some programs write before them. */
interface Piece extends Turn {
  readonly channel?: string | undefined;
  /** Whether its times are numbers, and not texts such as 0:15. */
  readonly isCounted?: boolean;
}

interface Found {
  /** The lists that can be what was said. The same speech can be there as words and as turns. */
  readonly lists: (readonly Piece[])[];
  /** Who speaks from when on, if that is apart from the words. */
  readonly spans: Piece[];
  /** The names of speakers by their ids. */
  readonly names: Map<string, string>;
}

/** More than the JSON of any program is nested. */
const maxDepth = 12;
/** A text that is longer than this is divided where its words are. */
const maxText = 600;
/** The longest time in seconds in which somebody says a word. */
const maxWord = 20;

const texts = [
  ...["text", "raw_text", "sentence", "body", "display", "punctuated_word", "punct", "word"],
  ...["transcript", "content", "value", "words", "words_str", "message"],
];
const speakers = [
  ...["speaker_name", "speakerName", "speaker", "speaker_label", "speakerLabel", "speaker_id", "speakerId"],
  ...["speakerTag", "speaker_tag", "participant", "participant_name", "user_name", "user", "users", "author"],
];
const starts = [
  ...["start", "start_time", "startTime", "start_timestamp", "startTimestamp", "start_ts", "start_ms", "startMs"],
  "start_time_ms",
  ...["timestamp", "timestamps", "ts", "date_unixtime", "from", "begin", "time", "offset", "offsetMilliseconds"],
];
const ends = [
  "end",
  "end_time",
  "endTime",
  "end_timestamp",
  "end_ts",
  "end_ms",
  "endMs",
  "end_time_ms",
  "timestamps",
  "ts",
  "to",
];
const channels = ["channel_label", "channelTag", "channel"];
const inner = ["words", "sentences", "elements", "items", "timestamps", "tokens", "result"];
/** Lists of which the first one counts. */
const alternatives = ["alternatives", "nBest", "instances"];

/** Returns what was said; nothing if the JSON has no list of it. */
export function spokenIn(json: unknown): readonly Turn[] {
  const found: Found = { lists: [], spans: [], names: new Map() };
  collect(json, found, 0);
  const spoken = bestOf(found.lists);
  if (spoken === undefined) return [];
  // Some programs write words, or parts of them, with the blank that precedes them.
  const isGlued =
    spoken.filter(({ text }) => text.startsWith(" ")).length * 5 > spoken.length &&
    !spoken.some(({ text }) => text.trim().includes(" "));
  const named = withSpeakers(spoken, found);
  return joined(inSeconds(named), isGlued ? "" : " ").map((turn) => ({ ...turn, text: tidy(turn.text) }));
}

/** Finds the lists in all members. */
function collect(value: unknown, found: Found, depth: number): void {
  if (depth > maxDepth) return;
  if (Array.isArray(value)) {
    const list = value as readonly unknown[];
    const pieces = piecesIn(list, {}, depth);
    if (pieces.length > 0) found.lists.push(pieces);
    for (const one of list) {
      collect(one, found, depth + 1);
      const [id, name] = [idOf(one), firstText(one, ["name", "display_name", "displayName", "speaker_name"])];
      if (id !== undefined && name !== undefined) found.names.set(id, name);
      // Slack names the author beside the id, in most messages.
      const [author, profile] = [at(one, "user"), firstText(at(one, "user_profile"), ["display_name", "real_name"])];
      if (typeof author === "string" && profile !== undefined) found.names.set(author, profile);
      const span = { speaker: speakerIn(one), start: timeIn(one, starts), end: undefined, text: "" };
      if (span.speaker !== undefined && span.start !== undefined && textIn(one) === "") found.spans.push(span);
    }
  } else if (isObject(value)) {
    for (const [name, member] of Object.entries(value))
      collect(alternatives.includes(name) ? at(member, "0") : member, found, depth + 1);
  }
}

/** Returns the list with the most speech: of those with speakers, and then with the longest texts. */
function bestOf(lists: Found["lists"]): readonly Piece[] | undefined {
  const rated = lists
    .map((list) => {
      const sizes = list.map(({ text }) => text.match(/[\p{L}\p{N}]/gu)?.length ?? 0);
      const sizeOf = (counts: (piece: Piece) => boolean): number =>
        list.reduce((sum, piece, index) => sum + (counts(piece) ? (sizes[index] ?? 0) : 0), 0);
      const size = sizeOf(() => true);
      const isChannels = hasChannels(list);
      const isSaid = ({ speaker, channel }: Piece): boolean =>
        (speaker ?? (isChannels ? channel : undefined)) !== undefined;
      const hasSpeakers = sizeOf(isSaid) > size * 0.7;
      return { list, size, hasSpeakers, isTimed: hasSpeakers || sizeOf(({ start }) => start !== undefined) > size / 2 };
    })
    .filter(({ list }) => list.some(({ text }) => /\p{L}/u.test(text)));
  const largest = (some: typeof rated): number => some.reduce((size, one) => Math.max(size, one.size), 0);
  // A list of all words with their speakers can follow the same words in sentences. Less than that is a part.
  const enough = rated.filter(
    ({ size, isTimed, hasSpeakers }) => isTimed && size > largest(rated) * (hasSpeakers ? 0.45 : 0.9),
  );
  const withSpeakers = enough.filter(({ hasSpeakers }) => hasSpeakers);
  const some = withSpeakers.length > 0 ? withSpeakers : enough;
  const whole = some.filter(({ size }) => size > largest(some) * 0.9);
  return whole.toSorted((one, other) => one.list.length - other.list.length)[0]?.list;
}

function hasChannels(list: readonly Piece[]): boolean {
  return new Set(list.map(({ channel }) => channel)).size > 1;
}

function piecesIn(list: readonly unknown[], outer: Partial<Piece>, depth: number): Piece[] {
  return list.flatMap((one) => (Array.isArray(one) ? tupleOf(one) : pieceOf(one, outer, depth)));
}

/** A word as a list: `["hello", 0.5, 0.9]`. */
function tupleOf([text, start, end]: readonly unknown[]): Piece[] {
  return typeof text === "string" && typeof start === "number" && typeof end === "number"
    ? [{ text, start, end, speaker: undefined }]
    : [];
}

function pieceOf(value: unknown, outer: Partial<Piece>, depth: number): Piece[] {
  if (!isObject(value) || depth > maxDepth) return [];
  const best = alternatives.map((name) => at(at(value, name), "0")).find(isObject);
  const one = { ...value, ...best };
  const speaker = speakerIn(one) ?? outer.speaker;
  const channel = labelOf(channels.map((name) => at(one, name)).find((each) => each !== undefined)) ?? outer.channel;
  const text = textIn(one);
  const start = timeIn(one, starts) ?? outer.start;
  const within = inner
    .map((name) => piecesIn(listAt(one, name) ?? [], { speaker, channel, start }, depth + 1))
    .find((pieces) => pieces.length > 0);
  const [first, last] = [within?.[0], within?.at(-1)];
  const isDivided = text.length > maxText || new Set(within?.map((each) => each.speaker)).size > 1;
  if (within !== undefined && (text === "" || isDivided)) return within;
  if (text === "") return [];
  const end = timeIn(one, ends) ?? last?.end;
  const isCounted = [...starts, ...ends].some((name) => typeof at(one, name) === "number");
  return [{ speaker: speaker ?? first?.speaker, channel, start: start ?? first?.start, end, text, isCounted }];
}

function textIn(one: unknown): string {
  // Telegram divides a text at its links.
  const parts = listAt(one, "text")?.map((part) =>
    typeof part === "string" ? part : (firstText(part, ["text"]) ?? ""),
  );
  if (parts !== undefined) return parts.join("").replace(/\s+/g, " ").trim();
  const text = texts.map((name) => at(one, name)).find((each) => typeof each === "string");
  return typeof text === "string" && text.trim() !== "" ? text.replace(/\s+/g, " ") : "";
}

const voices: ReadonlyMap<unknown, string> = new Map([
  ["microphone", "Me"],
  ["system", "Them"],
]);

function speakerIn(one: unknown): string | undefined {
  for (const name of speakers) {
    const speaker = labelOf(at(one, name));
    if (speaker !== undefined) return speaker;
  }
  // Telegram has the name where others have a time.
  return at(one, "from_id") === undefined ? voices.get(at(one, "source")) : labelOf(at(one, "from"));
}

/** Returns a name or an id. */
function labelOf(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return value.trim() === "" ? undefined : value.trim();
  if (Array.isArray(value)) return labelOf((value as readonly unknown[])[0]);
  if (!isObject(value)) return undefined;
  const source = voices.get(value["source"]) ?? (value["source"] === "speaker" ? "Them" : undefined);
  return (
    firstText(value, ["nickname", "name", "display_name", "displayName", "username", "label"]) ?? idOf(value) ?? source
  );
}

function idOf(value: unknown): string | undefined {
  const id = ["id", "@id", "speaker_id", "speakerId"].map((name) => at(value, name)).find((one) => one !== undefined);
  return typeof id === "string" || typeof id === "number" ? String(id) : undefined;
}

/** Speech recognition counts the speakers that it hears: `0` or `A`. */
function counted(speaker: string): string {
  return /^(?:[A-Z]|\d{1,3})$/.test(speaker) ? `Speaker ${speaker}` : speaker;
}

/** Returns the pieces in their order in time, each with its speaker, if known. */
function withSpeakers(pieces: readonly Piece[], { spans, names }: Found): Piece[] {
  const isChannels = hasChannels(pieces);
  const inOrder = spans.toSorted((one, other) => (one.start ?? 0) - (other.start ?? 0));
  const isNamed = pieces.some(({ speaker }) => speaker !== undefined);
  let previous: Piece | undefined;
  // A punctuation mark has no time: it belongs to the word before it.
  const timed = pieces.map((piece) => {
    const isMark = piece.start === undefined && previous !== undefined && !/[\p{L}\p{N}]/u.test(piece.text);
    previous = isMark ? { ...previous, ...piece, start: previous?.start, speaker: previous?.speaker } : piece;
    return previous as Piece;
  });
  const sorted = timed.every(({ start }) => start !== undefined)
    ? timed.toSorted((one, other) => (one.start ?? 0) - (other.start ?? 0))
    : timed;
  let next = 0;
  return sorted.map((piece) => {
    while (next < inOrder.length && (inOrder[next]?.start ?? 0) <= (piece.start ?? -1)) next++;
    const said = isNamed ? piece.speaker : ((isChannels ? piece.channel : undefined) ?? inOrder[next - 1]?.speaker);
    return { ...piece, speaker: said === undefined ? undefined : (names.get(said) ?? counted(said)) };
  });
}

/** Returns the pieces with times in seconds: some programs count milliseconds. */
function inSeconds(pieces: readonly Piece[]): Piece[] {
  const words = pieces.reduce((sum, { text }) => sum + text.trim().split(" ").length, 0);
  const times = pieces.flatMap(({ start, end }) => [start, end].filter((time) => time !== undefined));
  const [from, to] = times.reduce(([low, high], time) => [Math.min(low, time), Math.max(high, time)], [Infinity, 0]);
  const isCounted = times.every(Number.isInteger) && pieces.some((piece) => piece.isCounted === true);
  const isMillis = from < maxLength && to >= words * maxWord && isCounted;
  const scaled = (time: number | undefined): number | undefined =>
    time === undefined ? undefined : time / (isMillis ? 1_000 : 1);
  return pieces.map((piece) => ({ ...piece, start: scaled(piece.start), end: scaled(piece.end) }));
}

function timeIn(one: unknown, names: readonly string[]): number | undefined {
  const which = names === starts ? 0 : 1;
  return names.map((name) => timeOf(at(one, name), which)).find((time) => time !== undefined);
}

/** Returns the seconds of a time; those since 1970 of a date. `which` is 0 for the start of a range, 1 for its end. */
function timeOf(value: unknown, which: 0 | 1): number | undefined {
  if (typeof value === "number") return value < 0 ? undefined : value / (value > maxLength * 1_000 ? 1_000 : 1);
  if (typeof value === "string") {
    const [duration, hours = "0", minutes = "0", seconds = "0"] =
      /^PT(?:(\d{1,3})H)?(?:(\d{1,5})M)?(?:(\d{1,9}(?:\.\d{1,9})?)S)?$/.exec(value) ?? [];
    if (duration !== undefined) return Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds);
    if (/^\d{1,13}(?:\.\d{1,9})?s?$/.test(value)) return timeOf(Number.parseFloat(value), which);
    const date = dateOf(value)?.getTime();
    return date === undefined ? secondsIn(value) : date / 1_000;
  }
  if (!isObject(value)) return Array.isArray(value) ? timeOf((value as readonly unknown[])[which], which) : undefined;
  const { relative, from, to, seconds, nanos } = membersOf(value);
  if (seconds !== undefined || nanos !== undefined) return Number(seconds ?? 0) + Number(nanos ?? 0) / 1e9;
  return timeOf(relative, which) ?? timeOf(which === 0 ? from : to, which);
}

/** Returns a text of words with the blanks that people write. */
function tidy(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .replace(/ (?=[.,!?;:…%。、！？]+(?:\s|$))/g, "")
    .replace(
      /(?<=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}。、！？]) (?=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}。、！？])/gu,
      "",
    )
    .trim();
}
