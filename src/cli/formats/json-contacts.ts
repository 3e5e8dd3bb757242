// Reads contacts from the JSON of other programs, as the rows of a table whose columns are the paths of its members.
import type { ColumnMap, Columns } from "./csv-columns.ts";
import { rateHeader } from "./csv-columns.ts";
import { entriesOf, headerOf } from "./contact-table.ts";
import type { TableRow } from "./contact-table.ts";
import type { Entry } from "./entry.ts";
import type { Line } from "./lines.ts";
import { isObject, jsonIn, listOf } from "./members.ts";

/** A list is at most this deep in its file, and a value this deep in its contact. */
const maxDepth = 4;
/** How many values of a list in a contact are read. */
const maxValues = 10;
/** How many contacts show which list it is. */
const shown = 20;

/** Members that only contain others: `fields` of Airtable, `properties` of HubSpot, `names` of Google. */
const containers = new Set(["attributes", "fields", "merge_fields", "names", "profile", "properties", "value"]);

/** Returns the list of contacts in a JSON file; undefined if it has none. */
export function contactsIn(json: unknown, map: ColumnMap): readonly unknown[] | undefined {
  const found = listsIn(json, 0)
    .map((list) => ({ list, ...rateHeader(headerOf(list.slice(0, shown).map(rowOf)), map) }))
    .filter(({ list, hasAddress }) => hasAddress && list.every(isObject));
  return found.toSorted((one, other) => other.list.length - one.list.length)[0]?.list;
}

function listsIn(json: unknown, depth: number): (readonly unknown[])[] {
  const list = listOf(json);
  if (list !== undefined) return list.length === 0 ? [] : [list];
  return isObject(json) && depth < maxDepth ? Object.values(json).flatMap((one) => listsIn(one, depth + 1)) : [];
}

/** Reads one contact from each item of the list. The line of an entry is its number in the list. */
export async function* readJsonContacts(
  chunks: AsyncIterable<readonly Line[]>,
  map: ColumnMap,
  onColumns: (columns: Columns) => void,
): AsyncIterable<Entry> {
  const lines: string[] = [];
  for await (const part of chunks) for (const { text } of part) lines.push(text);
  const list = contactsIn(jsonIn(lines.join("\n")), map) ?? [];
  yield* entriesOf(list.map(rowOf), map, onColumns);
}

function rowOf(one: unknown, index: number): TableRow {
  return { line: index + 1, input: JSON.stringify(one), values: valuesOf(one, "") };
}

/** Returns the values of a contact by their paths: `emails 1 type`. */
function valuesOf(value: unknown, path: string, depth = 0): (readonly [path: string, text: string])[] {
  if (typeof value === "string" || typeof value === "number") return [[path, String(value)]];
  if (typeof value !== "object" || value === null || depth > maxDepth) return [];
  const members = listOf(value)
    ?.slice(0, maxValues)
    .map((one, at) => [String(at + 1), one] as const);
  return (members ?? Object.entries(value)).flatMap(([name, one]) => {
    const inner = containers.has(name) ? path : `${path} ${name}`.trim();
    return valuesOf(one, inner, depth + 1);
  });
}
