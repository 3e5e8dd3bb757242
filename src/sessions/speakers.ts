// The speaker of a passage: the name at the beginning of a turn.
import type { TurnLine } from "../text/turn-line.ts";
import { readTurnLine } from "../text/turn-line.ts";

/** The number of lines above a passage, and of UTF-16 units of each, that are searched for a name. */
const maxLines = 40;
const maxBeginning = 200;
/** How far from a passage a name can come again, in UTF-16 units: about an hour of speech. */
const nearby = 50_000;

/** Returns who speaks at this place in the text, in UTF-16 units; undefined if no line up to it has a name. */
export function speakerAt(text: string, place: number): string | undefined {
  const near = text.slice(Math.max(0, place - nearby), place + nearby);
  let single: string | undefined;
  for (const { time, speaker, text: said } of linesUpFrom(text, place, near)) {
    if (speaker === undefined) {
      // A turn that names nobody, such as "[00:03:12] …".
      if (time !== undefined && said !== "") return single;
    } else if (time !== undefined) return said === "" ? speaker : (single ?? speaker);
    else if (single !== undefined) return single;
    else if (isRepeated(near, `\n${speaker}:`)) return speaker;
    // Under a heading with a time, "Question: …" is what its speaker says.
    else single = speaker;
  }
  return single;
}

/** Yields the line at the place and the lines above it. `near` is the text around the place. */
function* linesUpFrom(text: string, place: number, near: string): Iterable<TurnLine> {
  const lineFrom = (from: number): string => text.slice(from, from + maxBeginning).split(/[\r\n]/u, 1)[0] ?? "";
  const startOf = (end: number): number => (end <= 0 ? 0 : text.lastIndexOf("\n", end - 1) + 1);
  const end = text.indexOf("\n", place);
  let start = startOf(place);
  let next = end === -1 ? undefined : lineFrom(end + 1);
  for (let lines = 0; lines < maxLines; lines++) {
    const above = start === 0 ? undefined : startOf(start - 1);
    const line = lineFrom(start);
    yield readTurnLine(line, {
      previous: above === undefined ? undefined : lineFrom(above),
      next,
      isCaption: false,
      hasHeadings: false,
      isRepeated: (part, where) => isRepeated(near, where === "anywhere" ? part : `\n${part}`, where === "line"),
    });
    if (above === undefined) return;
    if (line.trim() !== "") next = line;
    start = above;
  }
}

/** Whether the text has the part at least twice. A line can be at its beginning, too. */
function isRepeated(text: string, part: string, isLine = false): boolean {
  const isHere = (at: number): boolean => at !== -1 && (!isLine || (text[at + part.length] ?? "\n").trim() === "");
  const atStart = part.startsWith("\n") && text.startsWith(part.slice(1));
  const first = text.indexOf(part);
  return isHere(first) && (atStart || isHere(text.indexOf(part, first + part.length)));
}
