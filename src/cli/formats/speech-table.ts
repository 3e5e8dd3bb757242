// Reads a table of who said what, with a row for each turn, as programs export transcripts in CSV.
import { delimiters, rowsIn } from "./csv-rows.ts";
import type { Turn } from "./cues.ts";
import { secondsIn } from "./cues.ts";
import { spokenIn } from "./spoken.ts";

/** The usual names of columns, without blanks and marks. Contacts have names and times, too, but no such texts. */
const columns = {
  text: /^(?:text|transcript|transcription|message|content|utterance|sentence|dialogue)$/,
  speaker: /^(?:speaker|participant|sender|author|name)(?:name|label|id)?$/,
  start: /^(?:start|begin|in|time|timestamp)(?:time|timestamp|ms|s|seconds)?$/,
  end: /^(?:end|out)(?:time|timestamp|ms|s|seconds)?$/,
} as const;
const contact = /mail|phone|address|company/i;
const number = /^\d{1,13}(?:\.\d{1,9})?$/;

/** Returns the turns of a table; undefined if the text is none. */
export function turnsInTable(text: string): readonly Turn[] | undefined {
  const lines = text.split(/\r\n|[\r\n]/).map((line, at) => ({ number: at + 1, text: line }));
  const header = lines[0]?.text.slice(0, 500) ?? "";
  const delimiter = delimiters.find((one) => header.includes(one));
  if (delimiter === undefined || contact.test(header)) return undefined;
  const [names = [], ...rows] = rowsIn(lines, delimiter).map(({ cells }) => cells?.map((cell) => cell.text) ?? []);
  const plain = names.map((name) => name.toLowerCase().replace(/[^a-z]/g, ""));
  const places = Object.entries(columns).map(
    ([field, name]) => [field, plain.findIndex((one) => name.test(one))] as const,
  );
  const found = new Map(places.filter(([, place]) => place !== -1));
  const isTime = (cell: string): boolean => number.test(cell) || secondsIn(cell) !== undefined;
  const isTimed = isTime(rows[0]?.[found.get("start") ?? -1] ?? "");
  if (!found.has("text") || !(isTimed || plain.some((name) => name.startsWith("speaker")))) return undefined;
  const turns = rows.map((row) =>
    Object.fromEntries(
      [...found].map(([field, place]) => [field, number.test(row[place] ?? "") ? Number(row[place]) : row[place]]),
    ),
  );
  const spoken = spokenIn(turns);
  return spoken.length === 0 ? undefined : spoken;
}
