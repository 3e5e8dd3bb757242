// The forms in which an assistant names a record.
import { uuidForm } from "../text/uuid.ts";

/** The parts of an id: the kind of the record, undefined for a bare UUID; its UUID; and an offset in its text. */
export interface RecordId {
  readonly kind: string | undefined;
  readonly uuid: string;
  readonly offset: number;
}

/**
 * Matches an id from search or from the previous page, a bare UUID or its URN, a resource URI, or the address of a page,
 * also in quotation marks or brackets.
 */
const idForm =
  /^[\s"'`<{[(]*(?:urn:uuid:|(?:(contact|session):(?:\/\/)?|https?:\/\/[^\s?#]+\/(contact|session)s\/))?([0-9a-f-]{36})(?:\?offset=([0-9]{1,10}))?[\s"'`>}\])]*$/i;

/** Parses the id of a record, in any of these forms. Returns undefined for any other value. */
export function parseId(id: unknown): RecordId | undefined {
  const match = typeof id === "string" ? idForm.exec(id) : null;
  const [, prefix, page, uuid = "", offset = "0"] = match ?? [];
  if (!uuidForm.test(uuid)) return undefined;
  return { kind: (prefix ?? page)?.toLowerCase(), uuid: uuid.toLowerCase(), offset: Number(offset) };
}
