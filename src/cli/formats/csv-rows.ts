// Splits the lines of a CSV file into rows of cells (RFC 4180), with the variants that spreadsheets write.
import type { Line } from "./lines.ts";

/** The delimiters that are tried; the first is the usual one. */
export const delimiters = [",", ";", "\t", "|"] as const;

/** The maximum length of a row, in characters. An unclosed quote then costs one line, not the rest of the file. */
const maxRowLength = 4 * 1024 * 1024;

/** A cell. The blanks around a text without quotes are not part of it. */
export interface Cell {
  readonly text: string;
  readonly isQuoted: boolean;
}

/** A row, with the line where it begins, or the reason why it cannot be read. */
export interface Row {
  readonly line: number;
  readonly input: string;
  readonly cells: readonly Cell[] | undefined;
  readonly problem?: string;
}

/** Yields the rows of a file. A quoted cell can span lines. Takes linear time. */
export async function* rowsOf(chunks: AsyncIterable<readonly Line[]>, delimiter: string): AsyncIterable<Row> {
  const rows = createRows(delimiter);
  for await (const lines of chunks) {
    for (const line of lines) yield* rows.take(line);
  }
  yield* rows.end();
}

/** The rows of lines that are already read. */
export function rowsIn(lines: readonly Line[], delimiter: string): Row[] {
  const rows = createRows(delimiter);
  return [...lines.flatMap((line) => [...rows.take(line)]), ...rows.end()];
}

interface Rows {
  take(line: Line): Iterable<Row>;
  end(): Iterable<Row>;
}

function createRows(delimiter: string): Rows {
  /** The lines from `first` on belong to one row, whose last quoted cell is still open. */
  let open: Line[] = [];
  let first = 0;
  let size = 0;
  return {
    *take(line) {
      const inside = staysOpen(line.text, delimiter, first < open.length);
      open.push(line);
      size += line.text.length;
      if (!inside) {
        const row = open.slice(first);
        forget();
        return yield rowOf(row, delimiter);
      }
      while (size > maxRowLength) yield* giveUp();
    },
    *end() {
      while (first < open.length) yield* giveUp();
    },
  };

  /** Rejects the first line, whose quote is never closed, and reads the following lines as separate rows. */
  function* giveUp(): Iterable<Row> {
    const bad = open[first];
    if (bad === undefined) return;
    const problem = "the quote that opens in this line is never closed";
    yield { line: bad.number, input: bad.text, cells: undefined, problem };
    drop(bad);
    for (let line = open[first]; line !== undefined; line = open[first]) {
      // This line leaves a quoted cell open, as the first one did, so the later lines need no second reading.
      if (staysOpen(line.text, delimiter, false)) return;
      yield rowOf([line], delimiter);
      drop(line);
    }
    forget();
  }

  function drop(line: Line): void {
    first++;
    size -= line.text.length;
  }

  function forget(): void {
    open = [];
    first = 0;
    size = 0;
  }
}

function rowOf(lines: readonly Line[], delimiter: string): Row {
  const line = lines[0]?.number ?? 0;
  const input = lines
    .map(({ text }) => text)
    .join("\n")
    .replace(/\r$/, "");
  const problem = lines.find((one) => one.problem !== undefined)?.problem ?? zeroIn(input);
  if (problem !== undefined) return { line, input, cells: undefined, problem };
  const cells = cellsOf(input, delimiter);
  return cells === undefined
    ? { line, input, cells, problem: "has text after the closing quote of a cell: double the quotes within a cell" }
    : { line, input, cells };
}

function zeroIn(input: string): string | undefined {
  return input.includes("\0")
    ? "has a NUL character, so its encoding may be another one: set --encoding, such as utf-16le"
    : undefined;
}

/** Returns the cells of a row; undefined if a delimiter or line break is in quotes, but not in a quoted cell. */
function cellsOf(row: string, delimiter: string): Cell[] | undefined {
  const cells: Cell[] = [];
  for (let from = 0; ; ) {
    const begin = afterBlanks(row, delimiter, from);
    const quoted = row[begin] === '"' ? quotedCell(row, begin) : undefined;
    const end = row.indexOf(delimiter, quoted?.end ?? from);
    const stop = end === -1 ? row.length : end;
    const rest = quoted === undefined ? "" : row.slice(quoted.end, stop).trim();
    if (quoted !== undefined && rest === "") cells.push({ text: quoted.text, isQuoted: true });
    else if (quoted !== undefined && (quoted.text.includes(delimiter) || quoted.text.includes("\n"))) return undefined;
    else cells.push(withoutSlashes(row.slice(from, stop).trim()));
    if (end === -1) return cells;
    from = end + 1;
  }
}

/** Some databases and programs escape quotes by a backslash. */
const slashed = /^"(?:[^"\\]|\\.)*"$/s;

function withoutSlashes(text: string): Cell {
  return slashed.test(text)
    ? { text: text.slice(1, -1).replace(/\\(["\\])/g, "$1"), isQuoted: true }
    : { text, isQuoted: false };
}

/** Returns where a cell begins after blanks. Some programs write one after each delimiter. */
function afterBlanks(row: string, delimiter: string, from: number): number {
  let at = from;
  while (row[at] === " " && delimiter !== " ") at++;
  return at;
}

/** Returns the text of the quoted cell that begins here, and where it ends. */
function quotedCell(row: string, from: number): { readonly text: string; readonly end: number } {
  let end = row.indexOf('"', from + 1);
  while (end !== -1 && row[end + 1] === '"') end = row.indexOf('"', end + 2);
  if (end === -1) end = row.length;
  return { text: row.slice(from + 1, end).replaceAll('""', '"'), end: end + 1 };
}

/** Returns whether a quoted cell is still open at the end of a line. */
function staysOpen(text: string, delimiter: string, inside: boolean): boolean {
  let at = 0;
  for (;;) {
    if (!inside) {
      // A quote opens a cell only at its start. Elsewhere it is an ordinary character.
      const opening = openingIn(text, delimiter, at);
      if (opening === -1) return false;
      at = opening + 1;
      inside = true;
    }
    at = text.indexOf('"', at);
    if (at === -1) return true;
    if (text[at + 1] === '"') {
      at += 2;
    } else {
      at += 1;
      inside = false;
    }
  }
}

/** Returns where the next quoted cell begins; -1 if there is none. */
function openingIn(text: string, delimiter: string, from: number): number {
  const cellAfter = (at: number): number => text.indexOf(delimiter, at) + 1 || -1;
  for (let start = from === 0 ? 0 : cellAfter(from); start !== -1; start = cellAfter(start)) {
    const at = afterBlanks(text, delimiter, start);
    if (text[at] === '"') return at;
  }
  return -1;
}
