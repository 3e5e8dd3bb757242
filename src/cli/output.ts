// What a command says: its result on standard output, for people or as one JSON document, and everything else on
// standard error.
import { randomUUID } from "node:crypto";
import { styleText } from "node:util";

/** What JSON can express. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** A style of `styleText`. */
export type Style = Extract<Parameters<typeof styleText>[0], string>;

/** Where a command speaks. */
export interface Output {
  /** Whether the result is JSON; then only errors and requests to the user go to standard error. */
  readonly json: boolean;
  /** Whether someone watches standard error, so that a line may be redrawn. */
  readonly watched: boolean;
  /** The result: the document with `--json`, else the lines. */
  result(document: Json, lines: readonly string[]): void;
  /** A remark on the way, for people. */
  note(line: string): void;
  /** What the user has to do before the command can continue; with `--json` too. */
  prompt(line: string): void;
  /** The text in a colour, where the result is shown in colours. */
  paint(style: Style, text: string): string;
  /** Rows under a heading: aligned for a user, separated by tabs without a heading for a program. */
  table(heading: readonly string[], rows: readonly (readonly string[])[]): string[];
}

/** Stands for an escape of our own until the line is written: no text from elsewhere can hold it. */
const ownEscape = randomUUID();

/**
 * The text with its control characters, and those that turn the direction of writing, as `\\u001b`: none of it moves
 * the cursor of a terminal.
 */
export function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** A line with its own colours and tabs, and nothing else that a terminal obeys. */
function shown(line: string): string {
  return line.split("\t").map(printable).join("\t").replaceAll(ownEscape, "\u001b");
}

/** The output of this process. `color` false is `--no-color`. */
export function createOutput(
  options: { readonly json: boolean; readonly color: boolean },
  environment: NodeJS.ProcessEnv,
): Output {
  const colored =
    options.color &&
    (environment["NO_COLOR"] ?? "") === "" &&
    environment["TERM"] !== "dumb" &&
    process.stdout.isTTY === true;
  const paint = (style: Style, text: string): string =>
    colored ? styleText(style, printable(text)).replaceAll("\u001b", ownEscape) : text;
  return {
    json: options.json,
    watched: process.stderr.isTTY === true && !options.json,
    result(document, lines) {
      process.stdout.write(
        options.json ? `${JSON.stringify(document)}\n` : lines.map((line) => `${shown(line)}\n`).join(""),
      );
    },
    note(line) {
      if (!options.json) process.stderr.write(`${shown(line)}\n`);
    },
    prompt: (line) => void process.stderr.write(`${shown(line)}\n`),
    paint,
    table(heading, rows) {
      if (process.stdout.isTTY !== true)
        return rows.map((row) => row.map((cell) => cell.replace(/[\t\r\n]/g, " ")).join("\t"));
      rows = rows.map((row) => row.map(printable));
      const widths = heading.map((title, column) =>
        Math.max(...[title, ...rows.map((row) => row[column] ?? "")].map((cell) => [...cell].length)),
      );
      const line = (row: readonly string[]): string =>
        row
          .map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - [...cell].length))
          .join("  ")
          .trimEnd();
      return [paint("bold", line(heading)), ...rows.map(line)];
    },
  };
}

/** Pairs of a name and what it is, one a line, the names in a column. */
export function facts(pairs: readonly (readonly [name: string, value: string])[]): string[] {
  const width = Math.max(...pairs.map(([name]) => name.length));
  return pairs.map(([name, value]) => `${name.padEnd(width)}  ${value}`.trimEnd());
}

/** A number with its thousands apart. */
export function count(number: number): string {
  return number.toLocaleString("en-GB");
}

/** The same with what is counted: `1 record`, `2,500 records`. */
export function counted(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}
