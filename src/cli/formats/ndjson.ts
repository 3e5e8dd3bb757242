// Reads and writes NDJSON, one `records.ingest.v1.Record` as JSON per line: the only format that contains all records
// completely.
import { fromJson, toJsonString } from "@bufbuild/protobuf";
import type { DescField, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { RecordSchema } from "../../gen/records/ingest/v1/import_pb.ts";
import { acceptShortEnumNames } from "../../http/enum-names.ts";
import { timesThatDoNotExist } from "../../http/timestamps.ts";
import type { Entry, ImportedRecord } from "./entry.ts";
import type { JsonSplitter, JsonText } from "./json-values.ts";
import { createJsonSplitter } from "./json-values.ts";
import type { Line } from "./lines.ts";

const mustBe =
  'must be an object such as {"contact": {…}}, with one of contact, session, transcript, session_note, contact_note';

acceptShortEnumNames(RecordSchema);

/** The fields for the kinds of records. A line must have exactly one. */
const kinds = RecordSchema.oneofs.flatMap(({ fields }) => fields);

/** Returns whether JSON begins with a record, or with a list of records. */
export function beginsRecord(text: string): boolean {
  const [, name = ""] = /^[^[{"]{0,10}(?:\[\s*)?\{\s*"(\w{1,30})"\s*:\s*\{/.exec(text) ?? [];
  return text.trim() === "" || kinds.some((kind) => kind.name === name || kind.jsonName === name);
}

/**
 * Reads one record from each line, with field names in snake_case or lowerCamelCase. Skips blank lines. Also reads a
 * JSON array, and objects that are written over several lines.
 */
export async function* readNdjson(chunks: AsyncIterable<readonly Line[]>): AsyncIterable<Entry> {
  let isFirst = true;
  let splitter: JsonSplitter | undefined;
  for await (const lines of chunks) {
    for (const line of lines) {
      if (line.problem === undefined && line.text.trim() === "") continue;
      if (isFirst) splitter = createJsonSplitter(line);
      isFirst = false;
      const { number, text, problem } = line;
      const texts = splitter?.read(line) ?? [{ line: number, text, ...(problem === undefined ? {} : { problem }) }];
      for (const one of texts) yield entryOf(one);
    }
  }
  for (const one of splitter?.end() ?? []) yield entryOf(one);
}

function entryOf({ line, text, problem }: JsonText): Entry {
  return { line, input: text.trimEnd(), content: problem === undefined ? contentOf(text) : { problem } };
}

/** Returns a record as a line with its line feed, and field names in snake_case. */
export function ndjsonLine(record: ImportedRecord): string {
  return `${toJsonString(RecordSchema, record, { useProtoFieldName: true })}\n`;
}

function contentOf(text: string): Entry["content"] {
  let json: JsonValue;
  try {
    json = JSON.parse(text) as JsonValue;
  } catch (error) {
    return { problem: `is not JSON: ${messageOf(error)}` };
  }
  if (typeof json !== "object" || json === null || Array.isArray(json))
    return { problem: `is not a record: ${mustBe}` };
  const [one, other] = kinds.filter(({ name, jsonName }) => (json[name] ?? json[jsonName] ?? null) !== null);
  if (one !== undefined && other !== undefined)
    return { problem: `has ${one.name} and ${other.name}: must contain only one record` };
  try {
    const record = fromJson(RecordSchema, json);
    const [missing] = timesThatDoNotExist(RecordSchema, text);
    if (missing !== undefined)
      return { problem: `${missing}: must be a date-time that exists, such as 2026-01-31T09:30:00Z` };
    // A field that is null has no value, but the source has the field.
    if (one !== undefined && record.record.case !== undefined) return { record, fields: fieldsOf(one, json) };
    return { problem: `is not a record: ${mustBe}` };
  } catch (error) {
    return { problem: withoutPackage(messageOf(error)) };
  }
}

/** Returns the names of the fields that a record in JSON has, even if they are null. */
function fieldsOf({ name, jsonName, message }: DescField, json: JsonObject): string[] {
  const names = new Set(Object.keys(json[name] ?? json[jsonName] ?? {}));
  return (message?.fields ?? [])
    .filter((field) => names.has(field.name) || names.has(field.jsonName))
    .map((field) => field.name);
}

/** Removes the package name from the library's error message. */
function withoutPackage(message: string): string {
  return message.replace(/^cannot decode (message )?records\.ingest\.v1\./, "cannot be read as ");
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
