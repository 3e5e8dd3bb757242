// The speaker of a passage: the name at the beginning of a turn.
import { readTurnLine } from "../text/turn-line.ts";

/** The number of lines above a passage, and of UTF-16 units of each, that are searched for a name. */
const maxLines = 40;
const maxBeginning = 200;

/** Returns who speaks at this place in the text, in UTF-16 units; undefined if no line up to it has a name. */
export function speakerAt(text: string, place: number): string | undefined {
  const lineFrom = (from: number): string => text.slice(from, from + maxBeginning).split(/[\r\n]/u, 1)[0] ?? "";
  const startOf = (end: number): number => (end <= 0 ? 0 : text.lastIndexOf("\n", end - 1) + 1);
  const end = text.indexOf("\n", place);
  let start = startOf(place);
  let next = end === -1 ? undefined : lineFrom(end + 1);
  for (let lines = 0; lines < maxLines; lines++) {
    const above = start === 0 ? undefined : startOf(start - 1);
    const line = lineFrom(start);
    const previous = above === undefined ? undefined : lineFrom(above);
    const { speaker } = readTurnLine(line, { previous, next, isRepeated: () => isRepeated(text, line) });
    if (speaker !== undefined || above === undefined) return speaker;
    if (line.trim() !== "") next = line;
    start = above;
  }
  return undefined;
}

function isRepeated(text: string, line: string): boolean {
  const whole = `\n${line}`;
  const isLine = (at: number): boolean => at !== -1 && (text[at + whole.length] ?? "\n").trim() === "";
  const first = text.indexOf(whole);
  return isLine(first) && isLine(text.indexOf(whole, first + whole.length));
}
