// Checks documents before they are restored: a single one that cannot be read would fail whole pages.
import type { Document } from "mongodb";
import { decode } from "../db/decode.ts";
import { unrepresentableValues } from "../guards/representable.ts";
import { sanitizeForEcho } from "../text.ts";
import type { AnyContents } from "./contents.ts";
import { documentOf, plainNames } from "./shapes.ts";

/** The maximum length of an id that is repeated to its sender. The id of a document can be any value. */
const maxIdLength = 64;

/** A document that reads can return, or what is wrong with it. */
export type Checked = { readonly document: Document } | { readonly problem: string };

/** Checks a document of a collection. The BSON must be well-formed. */
export async function checkDocument(collection: string, contents: AnyContents, bson: Uint8Array): Promise<Checked> {
  let document: Document;
  try {
    document = decode(Buffer.from(bson.buffer, bson.byteOffset, bson.byteLength));
  } catch {
    // An example is a UUID of another length.
    return { problem: `must be readable, but a document of ${collection} has an invalid value` };
  }
  const problem = await problemOf(contents, document);
  if (problem === undefined) return { document };
  const id = sanitizeForEcho(String(document["_id"]), maxIdLength);
  return { problem: `must be readable, but ${id} of ${collection} has an invalid value: ${problem}` };
}

async function problemOf({ shape, reads, problem }: AnyContents, document: Document): Promise<string | undefined> {
  try {
    const wrong = documentOf(shape)(document) ?? plainNames(document);
    if (wrong !== undefined) return `${wrong.path} ${wrong.message}`.trimStart();
    const whole = problem?.(document);
    if (whole !== undefined) return whole;
    const [found] = (await reads(document)).flatMap(([schema, message]) => unrepresentableValues(schema, message));
    // An exported record has its item in a field of its own.
    return found && `${found.field.replace(/^(?:contact|session|transcript|\w+_note)\./, "")} ${found.message}`;
  } catch {
    return "a read fails";
  }
}
