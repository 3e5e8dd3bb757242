// Checks documents before they are restored: a single one that cannot be read would fail whole pages.
import type { Document } from "mongodb";
import { UUID } from "mongodb";
import { decodeRow } from "../db/aggregate.ts";
import { unrepresentableValues } from "../guards/representable.ts";
import type { AnyContents } from "./contents.ts";
import { documentOf, plainNames } from "./shapes.ts";

/** A document that reads can return, or what is wrong with it. */
export type Checked = { readonly document: Document } | { readonly problem: string };

/** Checks a document of a collection. The BSON must be well-formed. */
export async function checkDocument(collection: string, contents: AnyContents, bson: Uint8Array): Promise<Checked> {
  let document: Document;
  try {
    document = decodeRow(bson);
  } catch {
    // An example is a UUID of another length.
    return { problem: `must be readable, but ${nameOf(undefined)} of ${collection} has an invalid value` };
  }
  const problem = await problemOf(contents, document);
  if (problem === undefined) return { document };
  const name = nameOf(document["_id"]);
  return { problem: `must be readable, but ${name} of ${collection} has an invalid value: ${problem}` };
}

/** Returns a document's id for a message, if it is one. */
function nameOf(id: unknown): string {
  return id instanceof UUID ? id.toHexString() : "a document";
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
