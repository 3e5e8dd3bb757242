// Reads who said what in a text with speakers, as people, meeting programs and chats write it.
import type { TurnLine } from "../../text/turn-line.ts";
import { isFullName, readTurnLine, repetitionIn } from "../../text/turn-line.ts";
import type { Turn } from "./cues.ts";

/** What a line is: one of `Ann: …`, a name above what is said, a time alone, words after a time, or only words. */
type Kind = "turn" | "heading" | "time" | "timed text" | "text";

/**
 * Returns what each speaker said in a text with headings such as `Ann Lee  0:15`, or lines such as `Ann: …`; nothing if
 * it is no transcript. A line without a speaker and a time continues the one before.
 */
export function speechesIn(lines: readonly string[]): Turn[] {
  const plain = lines.map(withoutMarkdown);
  const whole = new Set(["", ...plain]);
  const isSpelled = (line: string): boolean => whole.has(spelled.exec(line)?.[1] ?? "\n");
  const kept = plain.filter((line) => line !== "" && !footer.test(line) && !isSpelled(line));
  const reads = readLines(kept);
  const kinds = kindsOf(reads);
  const named = reads.filter((_, at) => kinds[at] === "turn" || kinds[at] === "heading");
  const isRepeated = new Set(named.map(({ speaker }) => speaker)).size < named.length;
  const isProgram = named.some(({ time, text }) => time === undefined && text === "");
  // In a memo, a line or two can look like turns, and a program has titles above times.
  if (named.length === 0 || (!isRepeated && (isProgram || named.length * 3 < kept.length))) return [];

  const turns: Turn[] = [];
  let [speaker, start]: [string | undefined, number | undefined] = [undefined, undefined];
  /** A heading that nothing follows yet. It is text if nothing does. */
  let above: string | undefined;
  const add = (text: string, by: string | undefined, at: number | undefined): void =>
    void turns.push({ speaker: by, start: at, end: undefined, text });
  for (const [at, { time, speaker: name, text }] of reads.entries()) {
    const [kind, line] = [kinds[at], kept[at] ?? ""];
    if (kind === "time") start = time;
    else if (kind === "text") {
      const last = turns.at(-1);
      const continues = above === undefined && last?.start === start && (speaker ?? last?.speaker) === last?.speaker;
      if (last !== undefined && continues) turns[turns.length - 1] = { ...last, text: `${last.text} ${line}` };
      else add(line, speaker, start);
      above = undefined;
    } else {
      if (above !== undefined) add(above, undefined, undefined);
      start = time ?? start;
      [speaker, above] = kind === "heading" ? [name, line] : [undefined, undefined];
      if (kind !== "heading") add(text, name, start);
    }
  }
  if (above !== undefined) add(above, undefined, undefined);
  return turns;
}

function readLines(lines: readonly string[]): readonly TurnLine[] {
  const isRepeated = repetitionIn(lines);
  const read = (hasHeadings: boolean): TurnLine[] =>
    lines.map((line, at) => {
      const [previous, next] = [lines[at - 1], lines[at + 1]];
      return readTurnLine(line, { previous, next, isCaption: false, hasHeadings, isRepeated });
    });
  const lenient = read(true);
  const isHeading = ({ time, speaker, text }: TurnLine): boolean =>
    time !== undefined && text === "" && isFullName(speaker ?? "");
  return lenient.filter(isHeading).length > 1 ? lenient : read(false);
}

/** Returns what the lines are. One can look like a turn by chance: the others decide which form counts. */
function kindsOf(reads: readonly TurnLine[]): readonly Kind[] {
  const named = reads.filter(({ speaker }) => speaker !== undefined);
  const headings = named.filter(({ text }) => text === "");
  const timed = headings.filter(({ time }) => time !== undefined);
  const untimed = headings.length - timed.length;
  const inline = named.filter(({ time, text }) => time === undefined && text !== "").length;
  const isHeaded = timed.length > 1 ? timed.length >= inline / 2 : inline + untimed === 0;
  const isHeadedWithoutTimes = untimed > 1 && untimed > inline;
  const headed = new Set(timed.map(({ speaker }) => speaker));
  const counts = new Map<string | undefined, number>();
  for (const { speaker } of named) counts.set(speaker, (counts.get(speaker) ?? 0) + 1);
  const isRepeated = (speaker: string | undefined): boolean => (counts.get(speaker) ?? 0) > 1;
  const firstRepeated = reads.findIndex(({ speaker }) => isRepeated(speaker));
  const isHeading = (read: TurnLine | undefined): boolean => read?.speaker !== undefined && read.text === "";

  return reads.map(({ time, speaker, text }, at) => {
    if (speaker === undefined) return time === undefined ? "text" : text === "" ? "time" : "timed text";
    if (text === "") {
      const isOfForm = time === undefined ? isHeadedWithoutTimes : isHeaded;
      return (isOfForm || isRepeated(speaker)) && !isHeading(reads[at + 1]) ? "heading" : "text";
    }
    if (time !== undefined) return "turn";
    // "Place: Berlin" above the first turn is of the document, "Question: …" below a heading what its speaker says.
    const isOfDocument = at < firstRepeated && !isRepeated(speaker);
    return isOfDocument || (isHeaded && !headed.has(speaker)) ? "text" : "turn";
  });
}

/** What programs add to a transcript. */
const footer =
  /^(?:Transcribed by https?:\/\/otter\.ai|This editable transcript was computer generated|(?:Meeting|Transcription) ended after )/i;

/** The time that a page of Teams has for screen readers, alone or behind the name: `Ann Lee 1 minute 3 seconds`. */
const spelled = /^(.{0,80}?) ?(?:\d{1,2} hours? )?\d{1,2} minutes? \d{1,2} seconds?$/;

/**
 * Google's document is exported as Markdown: `**Ann:** …`, `### 00:05:00 {#00:05:00}`. Pandoc writes that of Word with
 * pictures, `[…]{.mark}`, and a backslash at the end of lines and before marks.
 */
function withoutMarkdown(line: string): string {
  return line
    .trim()
    .replace(/\\$|\{#[^{}]*\}$/, "")
    .replace(/^!\[[^[\]]*\]\([^()]*\)(?:\{[^{}]*\})?/, "")
    .replace(/\[([^[\]]*)\]\{[.#][^{}]*\}/g, "$1")
    .replace(/^(?:\d{1,2} hours? )?\d{1,2} minutes? \d{1,2} seconds?(?=\d{1,2}:\d\d)/, "")
    .replace(/^#{1,6} /, "")
    .replace(/^\*\*([^*]{1,80})\*\*/, "$1")
    .replace(/^\*(?=This editable)|\\(?=[-.'"[\]()<>$~*_#|])/g, "")
    .trim();
}
