// Output of a command: its result on standard output, as text or as one JSON document, and everything else on standard
// error.
import { randomUUID } from "node:crypto";
import { styleText } from "node:util";

/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** A style of `styleText`. */
export type Style = Extract<Parameters<typeof styleText>[0], string>;

/** The output of a command. */
export interface Output {
  /** Whether the result is JSON. Only errors and prompts then go to standard error. */
  readonly json: boolean;
  /** Whether standard error is a terminal whose lines can be redrawn. False with `--json`. */
  readonly watched: boolean;
  /** Writes the result: the document with `--json`, otherwise the lines. */
  result(document: Json, lines: readonly string[]): void;
  /** Writes a remark for the user. Omitted with `--json`. */
  note(line: string): void;
  /** Writes an instruction that the user must follow before the command can continue, even with `--json`. */
  prompt(line: string): void;
  /** Returns the text in a color if the result is shown in colors. */
  paint(style: Style, text: string): string;
  /** Returns a timestamp of the interface for people: in local time on a terminal, otherwise unchanged. */
  time(timestamp: string): string;
  /** Returns rows under a heading: aligned on a terminal, otherwise separated by tabs without the heading. */
  table(heading: readonly string[], rows: readonly (readonly string[])[]): string[];
}

/** The date and the time as in RFC 3339, which Swedish has too, with the name of the time zone. */
const localTime = new Intl.DateTimeFormat("sv-SE", {
  year: "numeric",
  month: "2-digit",
  day: "2-digit",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  timeZoneName: "short",
});

/** Replaces our own escape characters until a line is written. It is random, so that no other text contains it. */
const ownEscape = randomUUID();

/**
 * Returns the text with control and bidirectional formatting characters written as `\\u001b`, so that it cannot control
 * a terminal.
 */
export function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * Returns JSON text that cannot control a terminal. Its value is the same: a character that `printable` replaces is
 * within a string, where its new form is an escape.
 */
export function printableJson(document: Json): string {
  return printable(JSON.stringify(document));
}

/** Returns the text of a file as a terminal can show it: line ends and tabs are kept, and the rest is `printable`. */
export function printableFile(text: string): string {
  return text
    .split(/(\r?\n|\t)/)
    .map((part, at) => (at % 2 === 0 ? printable(part) : part))
    .join("");
}

/** Returns a line in which only our own colors and the tabs can affect a terminal. */
function shown(line: string): string {
  return line.split("\t").map(printable).join("\t").replaceAll(ownEscape, "\u001b");
}

/** Creates the output of this process. `color` is false with `--no-color`. */
export function createOutput(
  options: { readonly json: boolean; readonly color: boolean },
  environment: NodeJS.ProcessEnv,
): Output {
  const isDumb = environment["TERM"] === "dumb";
  const colored = options.color && (environment["NO_COLOR"] ?? "") === "" && !isDumb && process.stdout.isTTY === true;
  const paint = (style: Style, text: string): string =>
    colored ? styleText(style, printable(text)).replaceAll("\u001b", ownEscape) : text;
  return {
    json: options.json,
    watched: process.stderr.isTTY === true && !isDumb && !options.json,
    result(document, lines) {
      process.stdout.write(
        options.json ? `${printableJson(document)}\n` : lines.map((line) => `${shown(line)}\n`).join(""),
      );
    },
    note(line) {
      if (!options.json) process.stderr.write(`${shown(line)}\n`);
    },
    prompt: (line) => void process.stderr.write(`${shown(line)}\n`),
    paint,
    time: (timestamp) => (process.stdout.isTTY === true ? localTime.format(new Date(timestamp)) : timestamp),
    table(heading, rows) {
      if (process.stdout.isTTY !== true)
        return rows.map((row) => row.map((cell) => cell.replace(/[\t\r\n]/g, " ")).join("\t"));
      const [title = "", ...lines] = aligned([heading, ...rows.map((row) => row.map(printable))]);
      return [paint("bold", title), ...lines];
    },
  };
}

/** Formats rows as lines with aligned columns. */
export function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => widest(rows.map((row) => row[column] ?? "")));
  return rows.map((row) =>
    row
      .map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - lengthOf(cell)))
      .join("  ")
      .trimEnd(),
  );
}

/** Formats pairs of a name and a value, one per line, with the values aligned. */
export function facts(pairs: readonly (readonly [name: string, value: string])[]): string[] {
  const width = widest(pairs.map(([name]) => name));
  return pairs.map(([name, value]) => `${name}${" ".repeat(width - lengthOf(name))}  ${value}`.trimEnd());
}

/** Returns the length of the longest text, in code points. There may be more texts than a call can have arguments. */
function widest(texts: readonly string[]): number {
  return texts.reduce((width, text) => Math.max(width, lengthOf(text)), 0);
}

function lengthOf(text: string): number {
  return [...text].length;
}

/** Formats a number with thousands separators. */
export function count(number: number): string {
  return number.toLocaleString("en-GB");
}

/** Returns the sum of the counts. */
export function totalOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, number) => sum + number, 0);
}

/** Formats counts, one per line. */
export function countFacts(counts: Readonly<Record<string, number>>): string[] {
  return facts(Object.entries(counts).map(([name, number]) => [name, count(number)]));
}

/** Rounds seconds to milliseconds. */
export function rounded(seconds: number): number {
  return Math.round(seconds * 1_000) / 1_000;
}

/** Formats a number with its noun: `1 record`, `2,500 records`. */
export function counted(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}
