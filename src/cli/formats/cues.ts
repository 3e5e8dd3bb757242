// Reads who said what, and when, from the files of meeting programs: WebVTT, SRT, SBV, and text with speakers.
import { readTurnLine } from "../../text/turn-line.ts";

/** What somebody said without a pause. Times are in seconds from the beginning. */
export interface Turn {
  readonly speaker: string | undefined;
  readonly start: number | undefined;
  readonly end: number | undefined;
  readonly text: string;
}

/** A turn of one speaker does not become longer than this, in seconds, so that a time is near every sentence. */
const maxTurn = 60;
/** The speaker of a cue in its identifier, as Webex writes it: `12 "Ann Lee" (1234567)`. */
const identifier = /^\d{1,9} "([^"\n]{1,80})"(?: \(\d{1,20}\))?$/;
const name = /^[\p{L}\p{N}][^<>[\]]*$/u;
const maxName = 61;

/** Returns the turns of a text; undefined if it is none of these forms. */
export function turnsIn(text: string): readonly Turn[] | undefined {
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/);
  const cues = cuesIn(lines);
  const turns = cues.length > 0 ? cues : speechesIn(lines);
  return turns.length === 0 ? undefined : joined(turns);
}

/** Returns a transcript with a line for each turn: `[00:03:12] Ann: …`. */
export function transcriptOf(turns: readonly Turn[]): string {
  return turns
    .map(({ speaker, start, text }) => {
      const time = start === undefined ? "" : `[${clock(start)}] `;
      return `${time}${speaker === undefined ? "" : `${speaker}: `}${text}`;
    })
    .join("\n");
}

/** Joins the turns of one speaker that follow each other. */
export function joined(turns: readonly Turn[]): readonly Turn[] {
  const done: Turn[] = [];
  for (const turn of turns) {
    const last = done.at(-1);
    const isLong = (turn.start ?? 0) - (last?.start ?? 0) > maxTurn;
    if (last !== undefined && last.speaker === turn.speaker && !isLong && last.start !== undefined)
      done[done.length - 1] = { ...last, end: turn.end, text: `${last.text} ${turn.text}` };
    else done.push(turn);
  }
  return done;
}

/** A cue of captions. */
interface Cue extends Pick<Turn, "speaker" | "start" | "end"> {
  readonly lines: readonly string[];
}

function cuesIn(lines: readonly string[]): Turn[] {
  const cues: Cue[] = [];
  // In WebVTT, an empty line ends a cue, and a comment can follow. Other programs write empty lines within cues.
  const endsAtEmptyLine = lines[0]?.startsWith("WEBVTT") === true;
  for (let at = 0; at < lines.length; at++) {
    const [start, end] = timesIn(lines[at]) ?? [];
    if (start === undefined) continue;
    const speaker = identifier.exec(lines[at - 1] ?? "")?.[1];
    const said: string[] = [];
    while (at + 1 < lines.length && !(endsAtEmptyLine && lines[at + 1] === "") && !beginsCue(lines, at + 1))
      said.push(lines[++at] ?? "");
    cues.push({ speaker, start, end, lines: said });
  }
  const repeated = repeatedIn(cues.flatMap(({ lines: [first = ""] }) => first.trim()));
  return cues.flatMap((cue) => turnsOfCue(cue, repeated));
}

/** Returns the texts that are in the list at least twice. */
function repeatedIn(texts: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>();
  return new Set(texts.filter((text) => seen.has(text) || !seen.add(text)));
}

/** Returns whether a cue begins in this line: with its number, with a name after an empty line, or with its timing. */
function beginsCue(lines: readonly string[], at: number): boolean {
  const line = lines[at]?.trim() ?? "";
  const isName = /^\d+$/.test(line) || identifier.test(line) || lines[at - 1]?.trim() === "";
  return (isName && timesIn(lines[at + 1]) !== undefined) || timesIn(lines[at]) !== undefined;
}

function timesIn(line = ""): readonly [number | undefined, number | undefined] | undefined {
  const [from, to, ...others] = line.length > 200 ? [] : line.split(line.includes("-->") ? "-->" : ",");
  if (others.length > 0) return undefined;
  // Settings of WebVTT can follow.
  const [start, end] = [secondsIn(from?.trim()), secondsIn(to?.trim().split(/[ \t]/, 1)[0])];
  return start === undefined || end === undefined ? undefined : [start, end];
}

/** Returns the voices of a cue: `<v Ann>…</v>`, or lines such as `Ann: …`. `repeated` has first lines of several cues. */
function turnsOfCue({ speaker: identified, start, end, lines }: Cue, repeated: ReadonlySet<string>): Turn[] {
  const [before = "", ...voices] = lines.join("\n").split(/<v(?:\.[^\s<>]*)?[ \t]+/);
  const turns: Turn[] = [];
  let speaker = identified;
  const add = (text: string): void => {
    const last = turns.at(-1);
    if (last !== undefined && last.speaker === speaker)
      turns.push({ ...(turns.pop() ?? last), text: `${last.text} ${text}` });
    else if (text !== "") turns.push({ speaker, start, end, text });
  };
  const said = before
    .split("\n")
    .map(plain)
    .filter((line) => line !== "" && line !== "-");
  for (const [at, line] of said.entries()) {
    const previous = at === 0 ? "0:00" : said[at - 1];
    const read = readTurnLine(line, { previous, next: said[at + 1], isRepeated: () => repeated.has(line) });
    const named = read.speaker === undefined && at === 0 ? spokenIn(line) : read;
    if (named?.speaker === undefined) add(line);
    else {
      speaker = named.speaker;
      if (named.text !== "") add(named.text);
    }
  }
  for (const voice of voices) {
    const close = voice.indexOf(">");
    const [name, text] = [plain(voice.slice(0, Math.max(close, 0))), plain(voice.slice(close + 1))];
    if (text !== "") turns.push({ speaker: close > 0 ? name : undefined, start, end, text });
  }
  return turns;
}

/** Divides a line such as `Ann: …`. Returns undefined for any other. */
function spokenIn(line: string): { readonly speaker: string; readonly text: string } | undefined {
  const colon = line.indexOf(":");
  const speaker = line.slice(0, colon);
  const text = line.slice(colon + 1).trimStart();
  const isSpoken = colon > 0 && colon <= maxName && line[colon + 1] === " " && text !== "" && name.test(speaker);
  return isSpoken ? { speaker, text } : undefined;
}

const entities: Readonly<Record<string, string>> = {
  ...{ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", "#39": "'", "#34": '"', nbsp: " ", lrm: "", rlm: "" },
};

/** Returns a text without tags and line breaks. */
function plain(text: string): string {
  return text
    .replace(/<\/?[a-z0-9:.][^<>]*>/gi, "")
    .replace(/\{\\[^{}]*\}/g, "")
    .replace(/&([a-z]{2,4}|#3[49]);/gi, (match, name: string) => entities[name.toLowerCase()] ?? match)
    .replace(/\s+/g, " ")
    .trim();
}

/**
 * Returns what each speaker said in a text with headings such as `Ann Lee  0:15`, or lines such as `Ann: …`; nothing if
 * nobody is named. A line without a speaker continues the one before.
 */
function speechesIn(lines: readonly string[]): Turn[] {
  const kept = lines.map(withoutMarkdown).filter((line) => line !== "" && !footer.test(line));
  // A name in lower case is one if it speaks more than once.
  const repeated = repeatedIn(kept.flatMap((line) => spokenIn(line)?.speaker ?? []));
  const repeatedLines = repeatedIn(kept);
  const turns: Turn[] = [];
  let [speaker, start]: [string | undefined, number | undefined] = [undefined, undefined];
  let hasSpeaker = false;
  for (const [at, line] of kept.entries()) {
    const around = { previous: kept[at - 1], next: kept[at + 1], isRepeated: () => repeatedLines.has(line) };
    const read = readTurnLine(line, around);
    const spoken = spokenIn(line);
    if (read.speaker !== undefined && read.text === "") {
      [speaker, start] = [read.speaker, read.time ?? start];
      hasSpeaker = true;
    } else if (read.speaker !== undefined && (read.time !== undefined || speaker === undefined)) {
      [speaker, start] = [undefined, read.time ?? start];
      turns.push({ speaker: read.speaker, start, end: undefined, text: read.text });
      hasSpeaker = true;
    } else if (read.time !== undefined && read.text === "") {
      [speaker, start] = [undefined, read.time];
    } else if (spoken !== undefined && speaker === undefined && repeated.has(spoken.speaker)) {
      turns.push({ ...spoken, start, end: undefined });
      hasSpeaker = true;
    } else {
      const last = turns.at(-1);
      if (last !== undefined && last.start === start && (speaker === undefined || last.speaker === speaker))
        turns[turns.length - 1] = { ...last, text: `${last.text} ${line}` };
      else turns.push({ speaker, start, end: undefined, text: line });
    }
  }
  return hasSpeaker ? turns : [];
}

/** What programs add to a transcript. */
const footer =
  /^(?:Transcribed by https?:\/\/otter\.ai|This editable transcript was computer generated|(?:Meeting|Transcription) ended after )/i;

/** Google's document is exported as Markdown: `**Ann:** …`, `### 00:05:00 {#00:05:00}`. */
function withoutMarkdown(line: string): string {
  return line
    .trim()
    .replace(/\{#[^{}]*\}$/, "")
    .replace(/^#{1,6} /, "")
    .replace(/^\*\*([^*]{1,80})\*\*/, "$1")
    .replace(/^\*(?=This editable)|\\(?=[-.])/g, "")
    .trim();
}

/** Returns the seconds of a time such as `1:02:03.5`, `00:15` or `00:00:03,120`. */
export function secondsIn(time: string | undefined): number | undefined {
  if (time === undefined || !/^(?:\d{1,3}:)?\d{1,2}:\d{1,2}(?:[.,]\d{1,3})?$/.test(time)) return undefined;
  return time
    .replace(",", ".")
    .split(":")
    .reduce((sum, part) => sum * 60 + Number(part), 0);
}

function clock(seconds: number): string {
  const parts = [seconds / 3_600, (seconds / 60) % 60, seconds % 60];
  return parts.map((part) => String(Math.floor(part)).padStart(2, "0")).join(":");
}
