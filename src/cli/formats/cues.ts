// Reads who said what, and when, from the files of meeting programs: WebVTT, SRT, SBV, and text with speakers.
import type { TurnLine } from "../../text/turn-line.ts";
import { isFullName, readTurnLine } from "../../text/turn-line.ts";

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
      // A colon in the name would end it.
      return `${time}${speaker === undefined ? "" : `${speaker.replace(/:[ \t]*/g, ", ")}: `}${text}`;
    })
    .join("\n");
}

/** Joins the turns of one speaker that follow each other. */
export function joined(turns: readonly Turn[]): readonly Turn[] {
  const done: Turn[] = [];
  for (const turn of turns) {
    const last = done.at(-1);
    const apart = (turn.start ?? 0) - (last?.start ?? 0);
    // A day later, a time of day can be earlier.
    const isLong = apart > maxTurn || apart < 0;
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
  const repeated = repeatedIn(cues.flatMap(({ lines: [first = ""] }) => inBrackets(plain(first))));
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
  /** A name above what is said; it is text if nothing follows. */
  let above: string | undefined;
  const add = (text: string, isOther = false): void => {
    const last = turns.at(-1);
    if (last === undefined || last.speaker !== speaker || isOther) turns.push({ speaker, start, end, text });
    else turns[turns.length - 1] = { ...last, text: `${last.text} ${text}` };
    above = undefined;
  };
  // Some programs divide the speakers of a cue by a line with a dash.
  const said = before
    .split("\n")
    .map(plain)
    .filter((line) => line !== "" && line !== "-");
  for (const [at, line] of said.entries()) {
    const isOther = /^[-–—] ?\S/.test(line);
    const spoken = isOther ? line.replace(/^[-–—] ?/, "") : line;
    const read = readTurnLine(spoken, {
      previous: at === 0 ? "0:00" : undefined,
      next: said[at + 1],
      isCaption: true,
      hasHeadings: false,
      isRepeated: (text, where) => repeated.has(where === "anywhere" ? inBrackets(line) : text),
    });
    const named = read.speaker === undefined && at === 0 ? spokenIn(spoken) : read;
    if (named?.speaker === undefined) {
      if (isOther) speaker = undefined;
      add(spoken, isOther);
    } else {
      if (above !== undefined) add(above);
      speaker = named.speaker;
      if (named.text === "") above = line;
      else add(named.text, isOther);
    }
  }
  if (above !== undefined) {
    speaker = undefined;
    add(above);
  }
  for (const voice of voices) {
    const close = voice.indexOf(">");
    const [name, text] = [plain(voice.slice(0, Math.max(close, 0))), plain(voice.slice(close + 1))];
    if (text !== "") turns.push({ speaker: close > 0 ? name : undefined, start, end, text });
  }
  return turns;
}

/** What can name the speaker of a line: its bracket, and what is before, behind and between times and a colon. */
function labelsOf(line: string): readonly string[] {
  const begin = line.slice(0, 120);
  const untimed = begin.replace(timesOf, "\n").split(/[\n:：]/);
  return [
    inBrackets(line),
    ...new Set(untimed.map((part) => part.replace(/^[\s|@*_–—-]{1,20}|[\s|@*_–—-]{1,20}$/g, ""))),
  ];
}

const timesOf = /[[(]?\d{1,3}(?::\d{2}){1,2}(?:[.,]\d{1,6})?[\])]?/g;

/** The bracket at the beginning of a line, or the line. */
function inBrackets(line: string): string {
  return /^[[(（【][^\])）】]{1,80}[\])）】]/.exec(line)?.[0] ?? line;
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
 * it is no transcript. A line without a speaker and a time continues the one before.
 */
function speechesIn(lines: readonly string[]): Turn[] {
  const kept = lines.map(withoutMarkdown).filter((line) => line !== "" && !footer.test(line));
  const [reads, form] = readAll(kept);
  const turns: Turn[] = [];
  let [speaker, start]: [string | undefined, number | undefined] = [undefined, undefined];
  /** A heading that nothing follows yet. */
  let above: string | undefined;
  const begin = (turn: Omit<Turn, "end">): void => {
    if (above !== undefined) turns.push({ speaker: undefined, start, end: undefined, text: above });
    above = undefined;
    turns.push({ ...turn, end: undefined });
  };
  for (const [at, line] of kept.entries()) {
    const read = reads[at] ?? { time: undefined, speaker: undefined, text: line };
    const kind = form.kindOf(read, line, at);
    if (kind === "turn") {
      start = read.time ?? start;
      begin({
        speaker: read.speaker ?? spokenIn(line)?.speaker,
        start,
        text: read.speaker === undefined ? (spokenIn(line)?.text ?? line) : read.text,
      });
      speaker = undefined;
    } else if (kind === "heading") {
      if (above !== undefined) turns.push({ speaker: undefined, start, end: undefined, text: above });
      [speaker, start, above] = [read.speaker, read.time ?? start, line];
    } else if (kind === "time") start = read.time;
    else if (kind === "timed text") {
      [speaker, start] = [undefined, read.time];
      begin({ speaker, start, text: read.text });
    } else {
      const last = turns.at(-1);
      const isSame = last !== undefined && above === undefined && last.start === start;
      if (isSame && (speaker === undefined || last.speaker === speaker))
        turns[turns.length - 1] = { ...last, text: `${last.text} ${line}` };
      else turns.push({ speaker, start, end: undefined, text: line });
      above = undefined;
    }
  }
  if (above !== undefined) turns.push({ speaker: undefined, start, end: undefined, text: above });
  return form.isTranscript ? turns : [];
}

type Kind = "turn" | "heading" | "time" | "timed text" | "text";

/** How a text names its speakers. */
interface Form {
  readonly isTranscript: boolean;
  kindOf(read: TurnLine, line: string, at: number): Kind;
}

/** Reads the lines of a text. One line can look like a turn by chance: the other lines decide what counts as one. */
function readAll(lines: readonly string[]): readonly [readonly TurnLine[], Form] {
  const repeatedLines = repeatedIn(lines);
  const starts = repeatedIn(lines.flatMap((line) => line.slice(0, maxName).match(/^[^:：]{1,60}:/) ?? []));
  const labels = repeatedIn(lines.flatMap(labelsOf));
  const read = (hasHeadings: boolean): TurnLine[] =>
    lines.map((line, at) =>
      readTurnLine(line, {
        previous: lines[at - 1],
        next: lines[at + 1],
        isCaption: false,
        hasHeadings,
        isRepeated: (text, where) =>
          where === "line" ? repeatedLines.has(text) : where === "start" ? starts.has(text) : labels.has(text),
      }),
    );
  const lenient = read(true);
  const isFull = ({ time, speaker, text }: TurnLine): boolean =>
    time !== undefined && text === "" && isFullName(speaker ?? "");
  const reads = lenient.filter(isFull).length > 1 ? lenient : read(false);
  return [reads, formOf(reads, lines)];
}

function formOf(reads: readonly TurnLine[], lines: readonly string[]): Form {
  const named = reads.filter(({ speaker }) => speaker !== undefined);
  const timed = named.filter(({ time, text }) => time !== undefined && text === "");
  const untimed = named.filter(({ time, text }) => time === undefined && text === "");
  const inline = named.filter(({ time, text }) => time === undefined && text !== "");
  const headed = new Set(timed.map(({ speaker }) => speaker));
  const labels = reads.map(({ speaker }, at) => speaker ?? spokenIn(lines[at] ?? "")?.speaker);
  const repeated = repeatedIn(labels.filter((label) => label !== undefined));
  const isHeaded = timed.length > 1 ? timed.length >= inline.length / 2 : inline.length + untimed.length === 0;
  const isUntimed = untimed.length > 1 && untimed.length > inline.length;
  // "Place: Berlin" above the first turn is of the document.
  const firstRepeated = labels.findIndex((label) => label !== undefined && repeated.has(label));
  const isOfDocument = (at: number): boolean => at < firstRepeated && !repeated.has(labels[at] ?? "");
  const isNextHeading = (at: number): boolean => reads[at + 1]?.speaker !== undefined && reads[at + 1]?.text === "";
  const kindOf: Form["kindOf"] = ({ time, speaker, text }, line, at) => {
    if (speaker === undefined) {
      if (time !== undefined) return text === "" ? "time" : "timed text";
      return !isHeaded && repeated.has(spokenIn(line)?.speaker ?? "") ? "turn" : "text";
    }
    if (text === "") {
      const counts = time === undefined ? isUntimed : isHeaded;
      return (counts || repeated.has(speaker)) && !isNextHeading(at) ? "heading" : "text";
    }
    if (time !== undefined) return "turn";
    if (isOfDocument(at) || (isHeaded && !headed.has(speaker))) return "text";
    return "turn";
  };
  const count = reads.filter((read, at) => ["turn", "heading"].includes(kindOf(read, lines[at] ?? "", at))).length;
  return { isTranscript: count > 0 && (repeated.size > 0 || count * 3 >= lines.length), kindOf };
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
