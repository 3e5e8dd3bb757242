// Reads and writes contacts as CSV (RFC 4180); accepts the variants that address books export.
import type { DescField } from "@bufbuild/protobuf";
import { isMessage } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestampFromDate, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { parse } from "csv-parse/sync";
import type { ContactItem } from "../../gen/records/ingest/v1/items_pb.ts";
import { parseInstant } from "../../instant.ts";
import { uuidForm } from "../../uuid.ts";
import { timestampText } from "../timestamp-text.ts";
import type { Columns } from "./csv-columns.ts";
import { contactFields, findColumns } from "./csv-columns.ts";
import type { ContactFields, Entry } from "./entry.ts";
import { contactRecord } from "./entry.ts";
import type { Line } from "./lines.ts";
import { requireLineFeeds } from "./lines.ts";

/** The maximum length of a row, in characters. An unclosed quote then costs one line, not the rest of the file. */
const maxRowLength = 4 * 1024 * 1024;

interface Row {
  readonly line: number;
  readonly input: string;
  readonly cells: readonly string[] | undefined;
  readonly problem?: string;
}

/**
 * Reads one contact from each row. The first row is the header, and its delimiter (comma, semicolon or tab) applies to
 * the whole file. Calls `onColumns` with the mapping of columns to fields. Skips empty rows. Fails if no column is
 * known, or if lines end with CR alone.
 */
export async function* readCsv(
  chunks: AsyncIterable<readonly Line[]>,
  map: Parameters<typeof findColumns>[1],
  onColumns: (columns: Columns) => void,
): AsyncIterable<Entry> {
  let columns: Columns | undefined;
  for await (const { line, input, cells, problem } of rowsOf(chunks)) {
    if (cells === undefined) {
      yield { line, input, content: { problem: problem ?? "" } };
    } else if (columns === undefined) {
      requireLineFeeds(input.replace(/"[^"]*"/g, ""));
      columns = findColumns(cells, map);
      onColumns(columns);
    } else if (cells.some((cell) => cell.trim() !== "")) {
      yield { line, input, content: contentOf(columns.valuesOf(cells)) };
    }
  }
}

/** The header row of an export, with its line break. */
export const csvHeader = `${contactFields.map(({ name }) => name).join(",")}\r\n`;

/**
 * Returns a contact as a row, with its line break. Cells contain the exact text: a leading `=`, `+`, `-` or `@` is
 * kept, although a spreadsheet may read it as a formula.
 */
export function csvRow(contact: ContactItem): string {
  const textOf = ({ localName }: DescField): string => {
    const value = contact[localName as keyof ContactItem];
    return isMessage(value, TimestampSchema) ? (timestampText(value) ?? "") : String(value ?? "");
  };
  return `${contactFields.map((field) => cell(textOf(field))).join(",")}\r\n`;
}

function cell(value: string): string {
  return /[",\r\n;\t]|^\s|\s$/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** Yields rows with the line where each begins. A quoted cell can span lines. Takes linear time. */
async function* rowsOf(chunks: AsyncIterable<readonly Line[]>): AsyncIterable<Row> {
  let delimiter: string | undefined;
  /** The lines from `first` on belong to one row, whose last quoted cell is still open. */
  let open: Line[] = [];
  let first = 0;
  let size = 0;
  for await (const lines of chunks) {
    for (const line of lines) yield* take(line);
  }
  while (first < open.length) yield* giveUp();

  function* take(line: Line): Iterable<Row> {
    delimiter ??= delimiterOf(line.text);
    const inside = staysOpen(line.text, delimiter, first < open.length);
    open.push(line);
    size += line.text.length;
    if (!inside) {
      const row = open.slice(first);
      forget();
      return yield rowOf(row, delimiter);
    }
    while (size > maxRowLength) yield* giveUp();
  }

  /** Rejects the first line, whose quote is never closed, and reads the following lines as separate rows. */
  function* giveUp(): Iterable<Row> {
    const bad = open[first];
    if (bad === undefined) return;
    yield {
      line: bad.number,
      input: bad.text,
      cells: undefined,
      problem: "the quote that opens in this line is never closed",
    };
    drop(bad);
    for (let line = open[first]; line !== undefined; line = open[first]) {
      // This line leaves a quoted cell open, as the first one did, so the later lines need no second reading.
      if (staysOpen(line.text, delimiter ?? "", false)) return;
      yield rowOf([line], delimiter ?? "");
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
  const problem = lines.find((one) => one.problem !== undefined)?.problem;
  if (problem !== undefined) return { line, input, cells: undefined, problem };
  try {
    const [cells = []] = parse(input, { delimiter, relax_quotes: true, record_delimiter: "\n" }) as string[][];
    return { line, input, cells };
  } catch (error) {
    return {
      line,
      input,
      cells: undefined,
      problem: `is not CSV: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

/** Returns whether a quoted cell is still open at the end of a line. */
function staysOpen(text: string, delimiter: string, inside: boolean): boolean {
  let at = 0;
  for (;;) {
    if (!inside) {
      // A quote opens a cell only at its start. Elsewhere it is an ordinary character.
      const opening = at === 0 && text.startsWith('"') ? 0 : text.indexOf(`${delimiter}"`, at) + 1 || -1;
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

function delimiterOf(header: string): string {
  const count = (sign: string): number => header.split(sign).length;
  return [",", ";", "\t"].reduce((best, sign) => (count(sign) > count(best) ? sign : best));
}

function contentOf(values: ReadonlyMap<string, string>): Entry["content"] {
  const fields: Record<string, string | Timestamp> = {};
  for (const { name, localName, message } of contactFields) {
    const value = values.get(name);
    if (value === undefined) continue;
    const read = message === undefined ? value : timestampOf(value);
    if (read === undefined)
      return { problem: `${name}: must be a date-time such as 2026-01-31T09:30:00Z, not "${value}"` };
    fields[localName] = read;
  }
  const { id } = fields;
  // An `id` that is not a UUID comes from another system. It is the external id, unless the row has one.
  if (typeof id === "string" && !uuidForm.test(id)) {
    delete fields["id"];
    fields["externalId"] ??= id;
  }
  if (Object.keys(fields).length === 0) return { problem: "has no values in the imported columns" };
  return { record: contactRecord(fields as ContactFields) };
}

/**
 * Parses an instant as in requests. Also accepts a space before the time, and a time without seconds, as in
 * spreadsheets.
 */
function timestampOf(value: string): Timestamp | undefined {
  const exact = value.replace(" ", "T").replace(/T(\d\d:\d\d)(?=[Zz+-])/, "T$1:00");
  const found = parseInstant(exact);
  return found && timestampFromDate(new Date(exact.includes("T") ? found.last : found.first));
}
