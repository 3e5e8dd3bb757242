// Reads who said what, and when, from the files of meeting programs: WebVTT, SRT, SBV, and text with speakers.
import type { Around } from "../../text/turn-line.ts";
import { readTurnLine, repetitionIn } from "../../text/turn-line.ts";
import { withoutEntities } from "../../text/markup.ts";
import { speechesIn } from "./speeches.ts";

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

/** No recording lasts as long, in seconds: a later time is one of the calendar. */
export const maxLength = 100_000_000;

/** The date of a line, as chats have it, also behind the name: `Ann, [12.03.2026 23:58]`. */
const date = /(?:^\p{Cf}?|\[)(\d{1,4}([./-])\d{1,2}\2\d{1,4}),? \d/u;

/**
 * Returns the turns of a text; undefined if it is none of these forms, or a chat of several days: the times of turns
 * have no dates.
 */
export function turnsIn(text: string): readonly Turn[] | undefined {
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/);
  if (new Set(lines.flatMap((line) => date.exec(line)?.[1] ?? [])).size > 1) return undefined;
  const cues = cuesIn(lines);
  const turns = withCarriedSpeakers(cues.length > 0 ? cues : speechesIn(lines));
  return turns.length === 0 ? undefined : joined(turns);
}

/** What nobody says, or somebody new: `[Music]`, `>> Hi`, `- Hi`. */
const other = /^(?:[[(♪].*[\])♪]$|>>|[-–—] ?\S)/u;

/** Returns the turns with their speakers, where a speaker is named only when another one was before. */
function withCarriedSpeakers(turns: readonly Turn[]): readonly Turn[] {
  const named = turns.flatMap(({ speaker }) => speaker ?? []);
  const isAlternating = named.every((speaker, at) => speaker !== named[at + 1]);
  // Films name a few people whom nobody sees.
  if (named.length < 3 || named.length === turns.length || named.length * 8 < turns.length || !isAlternating)
    return turns;
  let current: string | undefined;
  return turns.map((turn) => {
    if (turn.speaker !== undefined || other.test(turn.text)) current = turn.speaker;
    return { ...turn, speaker: current };
  });
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

/** Joins the turns of one speaker that follow each other. `between` divides their texts. */
export function joined(turns: readonly Turn[], between = " "): readonly Turn[] {
  const done: Turn[] = [];
  for (const turn of turns) {
    const last = done.at(-1);
    const apart = (turn.start ?? 0) - (last?.start ?? 0);
    // A day later, a time of day can be earlier.
    const isLong = apart > maxTurn || apart < 0;
    if (last !== undefined && last.speaker === turn.speaker && !isLong && last.start !== undefined)
      done[done.length - 1] = { ...last, end: turn.end, text: `${last.text}${between}${turn.text}` };
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
  const endsAtEmptyLine =
    lines[0]?.startsWith("WEBVTT") === true &&
    lines.some((line, at) => (lines[at + 1] ?? "") !== "" && timesIn(line) !== undefined);
  for (let at = 0; at < lines.length; at++) {
    const [start, end] = timesIn(lines[at]) ?? [];
    if (start === undefined) continue;
    const speaker = identifier.exec(lines[at - 1] ?? "")?.[1];
    const said: string[] = [];
    while (at + 1 < lines.length && !(endsAtEmptyLine && lines[at + 1] === "") && !beginsCue(lines, at + 1))
      said.push(lines[++at] ?? "");
    cues.push({ speaker, start, end, lines: said });
  }
  if (lines.some((line) => wordTime.test(line))) leaveOutRepeated(cues);
  const isRepeated = repetitionIn(cues.map(({ lines: [first = ""] }) => plain(first)));
  return cues.flatMap((cue) => turnsOfCue(cue, isRepeated));
}

/** The time of a word within a line: captions that roll up, as YouTube writes them, show each line in several cues. */
const wordTime = /<\d\d:\d\d:\d\d\.\d{3}><c>/;

function leaveOutRepeated(cues: Cue[]): void {
  let last = "";
  for (const [at, cue] of cues.entries()) {
    const kept: string[] = [];
    for (const line of cue.lines) {
      const text = plain(line);
      if (text !== "" && text !== last) kept.push(line);
      if (text !== "") last = text;
    }
    cues[at] = { ...cue, lines: kept };
  }
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

/** Returns the voices of a cue: `<v Ann>…</v>`, or lines such as `Ann: …`. `isRepeated` is of the first lines of cues. */
function turnsOfCue({ speaker: identified, start, end, lines }: Cue, isRepeated: Around["isRepeated"]): Turn[] {
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
    const around = { previous: at === 0 ? "0:00" : undefined, next: said[at + 1], isCaption: true, hasHeadings: false };
    // "Morning: …" names nobody in a cue whose identifier does.
    const named = identified === undefined ? readTurnLine(spoken, { ...around, isRepeated }) : undefined;
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

/** Returns a text without tags and line breaks. */
function plain(text: string): string {
  return withoutEntities(text.replace(/<\/?[a-z0-9:.][^<>]*>/gi, "").replace(/\{\\[^{}]*\}/g, ""))
    .replace(/\s+/g, " ")
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
  if (seconds > maxLength) return new Date(seconds * 1_000).toISOString().slice(0, 19).replace("T", " ");
  const parts = [seconds / 3_600, (seconds / 60) % 60, seconds % 60];
  return parts.map((part) => String(Math.floor(part)).padStart(2, "0")).join(":");
}
