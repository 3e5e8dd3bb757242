// Converts stored documents to and from lines of NDJSON in canonical Extended JSON, which keeps the types of BSON.
import { create } from "@bufbuild/protobuf";
import type { Document } from "mongodb";
import { BSON } from "mongodb";
import type { StoredDocument } from "../../gen/records/admin/v1/backup_pb.ts";
import { StoredDocumentSchema } from "../../gen/records/admin/v1/backup_pb.ts";

/** MongoDB rejects documents of 180 levels, and the line and types of Extended JSON add some. */
const maxDepth = 175;
const maxNameLength = 100;
const [quote, backslash] = [0x22, 0x5c];
/** The characters that begin and end an object or an array. */
const begins = new Set([0x5b, 0x7b]);
const ends = new Set([0x5d, 0x7d]);

/** Returns a document as a line with its line feed. */
export function lineOf({ collection, bson }: Pick<StoredDocument, "collection" | "bson">): string {
  const document = BSON.EJSON.serialize(BSON.deserialize(bson, { promoteValues: false }), { relaxed: false });
  return asLine({ collection, document });
}

function asLine(value: { readonly collection: string; readonly document: object }): string {
  return `${JSON.stringify(value)}\n`;
}

/** Parses a line into a document. Returns what is wrong with the line if it is damaged. */
export function parseLine(line: string): StoredDocument | { readonly problem: string } {
  const value = parseJson(line);
  if (value === undefined) return { problem: "it isn't JSON, or is nested too deeply" };
  const { collection, document } = (value ?? {}) as { readonly collection?: unknown; readonly document?: unknown };
  const isNamed = typeof collection === "string" && collection.length > 0 && collection.length <= maxNameLength;
  if (!isNamed || typeof document !== "object" || document === null || Array.isArray(document))
    return { problem: "it isn't an object with a collection and a document" };
  const bson = bsonOf(document);
  // The library converts numbers and times that are out of range, and lone surrogates, to other values.
  if (bson === undefined || lineOf({ collection, bson }) !== asLine({ collection, document }))
    return { problem: "its document isn't canonical Extended JSON" };
  return create(StoredDocumentSchema, { collection, bson });
}

/** Parses JSON. Returns undefined if it is invalid or nested too deeply. */
export function parseJson(text: string): unknown {
  if (depthOf(text) > maxDepth) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function bsonOf(document: object): Uint8Array | undefined {
  try {
    const value = BSON.EJSON.deserialize(document, { relaxed: false }) as Document;
    return Object.getPrototypeOf(value) === Object.prototype ? BSON.serialize(value) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns how many objects and arrays are at most around a value. */
function depthOf(json: string): number {
  let [depth, max, isQuoted] = [0, 0, false];
  for (let at = 0; at < json.length; at++) {
    const character = json.charCodeAt(at);
    if (character === quote) isQuoted = !isQuoted;
    else if (isQuoted) at += character === backslash ? 1 : 0;
    else if (begins.has(character)) max = Math.max(max, ++depth);
    else if (ends.has(character)) depth--;
  }
  return max;
}
