// Dry run of an import: shows the records of a file, as far as they are known without the service.
import { toJson } from "@bufbuild/protobuf";
import { RecordSchema } from "../../gen/records/ingest/v1/import_pb.ts";
import type { ExitCode } from "../exit.ts";
import { exitCodes } from "../exit.ts";
import type { Columns } from "../formats/csv-columns.ts";
import type { ImportedRecord } from "../formats/entry.ts";
import type { Json, Output } from "../output.ts";
import { aligned, count, facts } from "../output.ts";
import type { SourceOptions } from "./source.ts";
import { openSource } from "./source.ts";
import { leftOutFacts, skippedCounts } from "./summary.ts";

const shownRecords = 3;
const shownProblems = 20;

type Fields = Readonly<Record<string, string>>;

interface Problem {
  readonly line: number;
  readonly message: string;
}

/**
 * Reads the whole file and sends nothing. Shows the columns, the first records and the unreadable entries. Returns the
 * exit code.
 */
export async function preview(
  output: Output,
  file: string,
  how: Omit<SourceOptions, "file" | "onColumns" | "onEncoding" | "updateBy">,
): Promise<ExitCode> {
  let columns: Columns | undefined;
  let encoding: string | undefined;
  const source = await openSource({
    file,
    ...how,
    onColumns: (found) => (columns = found),
    onEncoding: (found) => (encoding = found),
  });
  const first: { readonly line: number; readonly fields: Fields }[] = [];
  const problems: Problem[] = [];
  let [records, unreadable, skipped, leftOut] = [0, 0, 0, 0];
  try {
    await source.check();
    for await (const { line, content, leftOut: values = 0 } of source.entries()) {
      leftOut += values;
      if ("problem" in content) {
        unreadable++;
        if (problems.length < shownProblems) problems.push({ line, message: content.problem });
      } else if ("skipped" in content) {
        skipped++;
      } else {
        records++;
        if (first.length < shownRecords) first.push({ line, fields: fieldsOf(content.record) });
      }
    }
  } finally {
    source.close();
  }
  const document: Json = {
    file,
    format: source.format,
    encoding: encoding ?? null,
    dry_run: true,
    records,
    unreadable,
    ...skippedCounts(source.format, skipped),
    values_left_out: leftOut,
    columns: columns === undefined ? null : Object.fromEntries(columns.taken),
    columns_left_out: columns === undefined ? null : [...columns.leftOut],
    first: first.map(({ line, fields }) => ({ line, ...fields })),
    problems: problems.map((problem) => ({ ...problem })),
  };
  output.result(document, [
    ...(encoding === undefined ? [] : [`Encoding: ${encoding.toUpperCase()}`]),
    ...(columns === undefined ? [] : columnLines(columns)),
    ...(first.length === 0
      ? []
      : ["", first.length === 1 ? "The first record:" : `The first ${count(first.length)} records:`]),
    ...tableOf(first).map(indented),
    "",
    `Dry run of ${file}: ${count(records)} ${records === 1 ? "record" : "records"} to import, ${count(unreadable)} unreadable. Nothing was sent.`,
    ...leftOutFacts(source.format, skipped, leftOut).map(([name, value]) => indented(`${name}: ${value}`)),
    ...problems.map(({ line, message }) => indented(`line ${line}: ${message}`)),
    ...(unreadable > problems.length ? [indented(`… and ${count(unreadable - problems.length)} more`)] : []),
  ]);
  return unreadable > 0 ? exitCodes.rejected : exitCodes.ok;
}

/** Returns a line for each column that describes its use. */
export function columnLines({ taken, leftOut, line }: Columns): string[] {
  const rows = facts([
    ...taken.map(([header, use]) => [header, `→ ${use}`] as const),
    ...leftOut.map((header) => [header, "left out"] as const),
  ]);
  return [line === 1 ? "Columns:" : `Columns, from line ${line}:`, ...rows.map(indented)];
}

/** Returns the records under a heading, with the fields that at least one of them has. */
function tableOf(records: readonly { readonly line: number; readonly fields: Fields }[]): string[] {
  if (records.length === 0) return [];
  const names = [...new Set(records.flatMap(({ fields }) => Object.keys(fields)))];
  const rows = records.map(({ line, fields }) => [String(line), ...names.map((name) => fields[name] ?? "")]);
  return aligned([["line", ...names], ...rows]);
}

/** Returns the fields of a record that are set. The kind comes first, unless the record is a contact. */
function fieldsOf(record: ImportedRecord): Fields {
  const json = toJson(RecordSchema, record, { useProtoFieldName: true }) as Readonly<Record<string, object>>;
  const [[kind, fields] = ["", {}]] = Object.entries(json);
  const values = Object.entries(fields).map(([name, value]): [string, string] => [name, shownValue(value)]);
  return Object.fromEntries(kind === "contact" ? values : [["kind", kind], ...values]);
}

const maxValueLength = 40;

function shownValue(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const line = text.replaceAll(/\s+/g, " ");
  return line.length > maxValueLength ? `${line.slice(0, maxValueLength - 1)}…` : line;
}

function indented(line: string): string {
  return `  ${line}`;
}
