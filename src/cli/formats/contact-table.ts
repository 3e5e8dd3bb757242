// Reads contacts whose values have names as the rows of a table, whose columns are these names.
import type { ColumnMap, Columns } from "./csv-columns.ts";
import { findColumns } from "./csv-columns.ts";
import { entryOf } from "./csv.ts";
import type { Entry } from "./entry.ts";

/** A contact with its values by name. */
export interface TableRow {
  readonly line: number;
  readonly input: string;
  readonly values: readonly (readonly [name: string, text: string])[];
  readonly problem?: string | undefined;
  readonly skipped?: string | undefined;
}

export function headerOf(rows: readonly Pick<TableRow, "values">[]): string[] {
  return [...new Set(rows.flatMap(({ values }) => values.map(([name]) => name)))];
}

/** Returns an entry for each contact. Fails with a usage error if no column has a name, email or phone. */
export function* entriesOf(
  rows: readonly TableRow[],
  map: ColumnMap,
  onColumns: (columns: Columns) => void,
): Iterable<Entry> {
  if (rows.length === 0) return;
  const contacts = rows.filter(({ skipped }) => skipped === undefined);
  const header = headerOf(contacts.length === 0 ? rows : contacts);
  const columns = findColumns(header, map, 1);
  onColumns(columns);
  for (const row of rows) {
    const { line, input, problem, skipped } = row;
    const values = new Map(row.values);
    const cells = header.map((name) => ({ text: values.get(name) ?? "", isQuoted: true }));
    if (problem !== undefined) yield { line, input, content: { problem } };
    else if (skipped !== undefined) yield { line, input, content: { skipped } };
    else yield entryOf(row, columns.read(cells), columns);
  }
}
