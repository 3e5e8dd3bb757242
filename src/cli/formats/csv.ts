// Reads contacts from CSV as address books, mail programs and CRMs export it.
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { parseInstant } from "../../text/instant.ts";
import { uuidForm } from "../../text/uuid.ts";
import { rejectUsage } from "../exit.ts";
import type { ColumnMap, Columns, Values } from "./csv-columns.ts";
import { contactFields, findColumns, rateHeader } from "./csv-columns.ts";
import type { Cell, Row } from "./csv-rows.ts";
import { delimiters, rowsIn, rowsOf } from "./csv-rows.ts";
import type { ContactFields, Entry } from "./entry.ts";
import { contactRecord } from "./entry.ts";
import type { Line } from "./lines.ts";

/** How many rows may come before the end of the header, and how many lines they may have. */
const [headerRows, headerLines] = [20, 100];

/**
 * Reads one contact from each row. The header is the row among the first 20 with the most known columns. Rows before it
 * are no contacts. Calls `onColumns` with the mapping of columns to fields. Skips empty rows. Fails with a usage error
 * if no column has a name, email or phone.
 */
export async function* readCsv(
  chunks: AsyncIterable<readonly Line[]>,
  map: ColumnMap,
  onColumns: (columns: Columns) => void,
): AsyncIterable<Entry> {
  const { begin, all } = await readBegin(chunks, map);
  if (begin.length === 0) return;
  const { header, delimiter } = findHeader(begin, map);
  const columns = findColumns(textsOf(header), map, header.line);
  const titles = textsOf(header);
  // Files that were joined have their header several times.
  const isHeader = (cells: readonly Cell[]): boolean =>
    cells.length === titles.length && cells.every(({ text }, at) => text.trim() === titles[at]);
  onColumns(columns);
  for await (const row of rowsOf(all, delimiter)) {
    if (row.line <= header.line) continue;
    const { line, input, cells, problem = "" } = row;
    if (cells === undefined) yield { line, input, content: { problem } };
    else if (cells.some(({ text }) => text.trim() !== "") && !isHeader(cells))
      yield entryOf(row, columns.read(cells), columns);
  }
}

/** Reads as many lines as the header needs. `all` yields them again, and then the rest of the file. */
async function readBegin(
  chunks: AsyncIterable<readonly Line[]>,
  map: ColumnMap,
): Promise<{ readonly begin: readonly Line[]; readonly all: AsyncIterable<readonly Line[]> }> {
  const iterator = chunks[Symbol.asyncIterator]();
  const begin: Line[] = [];
  while (begin.length < headerLines && !isClear(begin, map)) {
    const next = await iterator.next();
    if (next.done === true) break;
    // A file may have an enormous number of short lines in its first piece.
    for (const line of next.value) begin.push(line);
  }
  async function* all(): AsyncIterable<readonly Line[]> {
    try {
      yield begin;
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value;
    } finally {
      await iterator.return?.();
    }
  }
  return { begin: begin.slice(0, headerLines), all: all() };
}

/** Returns whether a header is found that no later row can surpass: a feed may pause after it. */
function isClear(lines: readonly Line[], map: ColumnMap): boolean {
  return candidatesIn(lines, map).some(isSure);
}

function isSure({ known, isPersonal, filled }: Candidate): boolean {
  return isPersonal && known >= 2 && (known === filled || known > 2);
}

/** Returns whether a text begins as a table of contacts: with a header, and a row with an email or a phone. */
export function beginsTable(text: string): boolean {
  const [first, ...rows] = text.split(/\r\n|[\r\n]/).map((line, at) => ({ number: at + 1, text: line }));
  if (first === undefined) return false;
  return candidatesIn([first], new Map()).some((one) => {
    const isRow = (texts: readonly string[]): boolean =>
      texts.length === textsOf(one.header).length && texts.some(isData);
    return isSure(one) && one.hasAddress && rowsIn(rows, one.delimiter).some((row) => isRow(textsOf(row)));
  });
}

interface Candidate {
  readonly header: Row;
  readonly delimiter: string;
  readonly known: number;
  readonly isPersonal: boolean;
  readonly hasAddress: boolean;
  /** How many of its cells are not empty. */
  readonly filled: number;
}

function candidatesIn(lines: readonly Line[], map: ColumnMap): Candidate[] {
  const said = separatorIn(lines[0]);
  return (said === undefined ? delimiters : [said]).flatMap((delimiter) =>
    rowsIn(said === undefined ? lines : lines.slice(1), delimiter)
      .slice(0, headerRows)
      .filter(({ cells }) => cells !== undefined)
      .map((header) => {
        const texts = textsOf(header);
        // The labels of a contact, such as Mobile, can be names of columns as well.
        if (texts.some((text) => isData(text)))
          return { header, delimiter, known: 0, isPersonal: false, hasAddress: false, filled: texts.length };
        return { header, delimiter, ...rateHeader(texts, map), filled: texts.filter((text) => text !== "").length };
      }),
  );
}

/** Returns whether a cell has an email address or a phone number. */
function isData(text: string): boolean {
  return /[^\s@]@[^\s@]/.test(text) || (/^[+\d\s()/.-]+$/.test(text) && /\d\d/.test(text));
}

/** Returns the delimiter in the line `sep=;`, with which Excel begins a file. */
function separatorIn(line: Line | undefined): string | undefined {
  return /^"?sep=(.)"?\s*$/i.exec(line?.text.slice(0, 20) ?? "")?.[1];
}

function findHeader(lines: readonly Line[], map: ColumnMap): Candidate {
  const candidates = candidatesIn(lines, map);
  const best = candidates.reduce<Candidate | undefined>(
    (found, one) => (found === undefined || isBetter(one, found) ? one : found),
    undefined,
  );
  if (best !== undefined && best.filled > 0) return best;
  const [bad] = rowsIn(lines, ",").filter(({ cells }) => cells === undefined);
  return rejectUsage(
    bad === undefined
      ? "The file has no header: its first rows are empty."
      : `The file has no header that can be read. Line ${bad.line}: ${bad.problem ?? ""}.`,
  );
}

/** Compares with an earlier candidate. Without any known column, the first row with the most cells is shown. */
function isBetter(one: Candidate, other: Candidate): boolean {
  if (one.known !== other.known) return one.known > other.known;
  if (one.isPersonal !== other.isPersonal) return one.isPersonal;
  return one.header.line === other.header.line && one.filled > other.filled;
}

function textsOf({ cells = [] }: Row): string[] {
  return cells.map(({ text }) => text.trim());
}

/** Returns the entry of a row with these values. */
export function entryOf(
  { line, input }: Pick<Row, "line" | "input">,
  { values, leftOut, problem }: Values,
  columns: Columns,
): Entry {
  if (problem !== undefined) return { line, input, content: { problem, externalId: values.get("external_id") } };
  const fields: Record<string, string | Timestamp> = {};
  let unread = leftOut;
  for (const { name, localName, message } of contactFields) {
    const value = values.get(name);
    if (value === undefined) continue;
    const read = message === undefined ? value : timestampOf(value);
    if (read !== undefined) fields[localName] = read;
    // The dates of other systems have other forms, and are no reason to lose the contact.
    else if (!columns.isExport) unread++;
    else {
      const wrong = `${name}: must be a date-time such as 2026-01-31T09:30:00Z, not "${value}"`;
      return { line, input, content: { problem: wrong } };
    }
  }
  const { id } = fields;
  // An `id` that is not a UUID comes from another system. It is the external id, unless the row has one.
  if (typeof id === "string" && !uuidForm.test(id)) {
    delete fields["id"];
    fields["externalId"] ??= id;
  }
  const isEmpty = Object.keys(fields).every((name) => name === "id" || name === "externalId");
  if (isEmpty)
    return { line, input, content: { problem: "has no name, email, phone or notes in the imported columns" } };
  return { line, input, leftOut: unread, content: { record: contactRecord(fields as ContactFields) } };
}

/**
 * Parses an instant as in requests. Also accepts a space before the time, and a time without seconds, as in
 * spreadsheets, and an offset such as `UTC` or ` +0000`, as in dumps of databases.
 */
function timestampOf(value: string): Timestamp | undefined {
  const exact = value
    .replace(" ", "T")
    .replace(/ ?UTC$/, "Z")
    .replace(
      /(?<=:\d\d(?:\.\d{1,9})?) ?([+-]\d\d)(?::?(\d\d))?$/,
      (_, hours: string, minutes = "00") => `${hours}:${minutes}`,
    )
    .replace(/T(\d\d:\d\d)(?=[Zz+-])/, "T$1:00");
  const found = parseInstant(exact);
  return found && timestampFromDate(new Date(exact.includes("T") ? found.last : found.first));
}
