// What the formats of the command line read: the entries of a text that comes in small chunks.
import { parseMap } from "../../src/cli/formats/csv-columns.ts";
import { readCsv } from "../../src/cli/formats/csv.ts";
import type { Entry } from "../../src/cli/formats/entry.ts";
import { linesOf } from "../../src/cli/formats/lines.ts";
import { readVcards } from "../../src/cli/formats/vcard.ts";
import { createRecognizer } from "../../src/cli/import/recognizer.ts";
import type { ContactItem } from "../../src/gen/records/ingest/v1/items_pb.ts";
import { everyOf } from "../support/client.ts";

/** The bytes in chunks of this size, as a stream gives them. */
export async function* chunksOf(content: string | Uint8Array, size = 7): AsyncIterable<Uint8Array> {
  const bytes = Buffer.from(content as string);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

export function csv(content: string | Uint8Array, map: string[] = [], encoding?: string): Promise<Entry[]> {
  return everyOf(readCsv(linesOf(chunksOf(content), encoding), parseMap(map), () => undefined));
}

/** The entries of a file of vCards. */
export function vcards(content: string | Uint8Array, encoding?: string): Promise<Entry[]> {
  return everyOf(readVcards(chunksOf(content), encoding));
}

/** What an import reads from a file: the encoding is recognized by the whole content. */
export async function read(
  format: "csv" | "vcard",
  content: string | Uint8Array,
  encoding?: string,
): Promise<{ readonly encoding: string; readonly entries: Entry[] }> {
  const recognizer = createRecognizer("file", format, encoding);
  for await (const chunk of chunksOf(content)) recognizer.read(chunk);
  const found = recognizer.end();
  return { encoding: found, entries: await (format === "csv" ? csv(content, [], found) : vcards(content, found)) };
}

/** What an entry holds, without what is not set: a contact's fields, the problem, or what is skipped. */
export function held({ content }: Entry): Record<string, unknown> | string {
  if ("problem" in content) return content.problem;
  if ("skipped" in content) return `skipped: ${content.skipped}`;
  const { $typeName: _name, ...fields } = content.record.record.value as ContactItem;
  return fields;
}

/** What entries hold, each after the line where it begins. */
export const said = (entries: readonly Entry[]) => entries.map((entry) => [entry.line, held(entry)]);
