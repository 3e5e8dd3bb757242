// Checks documents of records before they are restored: a single one that cannot be read would fail whole pages.
import type { DescMessage, Message } from "@bufbuild/protobuf";
import type { Document } from "mongodb";
import { Binary } from "mongodb";
import type { ContactDocument } from "../contacts/document.ts";
import { collections } from "../db/collections.ts";
import { decode } from "../db/decode.ts";
import type { Violation } from "../errors.ts";
import { RecordSchema } from "../gen/records/ingest/v1/import_pb.ts";
import { NoteSearchResultSchema } from "../gen/records/v1/notes_pb.ts";
import { SessionDetailSchema } from "../gen/records/v1/sessions_pb.ts";
import { unrepresentableValues } from "../guards/representable.ts";
import type { ExportedRecord } from "../ingest/exported.ts";
import { contactRecord, noteRecord, sessionRecord, transcriptRecord } from "../ingest/exported.ts";
import type { NoteDocument } from "../notes/document.ts";
import { resultMessage } from "../notes/store.ts";
import type { SessionDocument } from "../sessions/document.ts";
import { sessionDetail } from "../sessions/messages.ts";
import type { TranscriptDocument } from "../sessions/transcripts.ts";
import { sanitizeForEcho } from "../text.ts";

/** The maximum length of an id that is repeated to its sender. The id of a document can be any value. */
const maxIdLength = 64;

/** The messages that together have every field of a document that a read returns. */
type Mapping = (document: Document) => readonly (readonly [DescMessage, Message])[];

const mappings = new Map<string, Mapping>([
  [collections.contacts, (document) => [exported(contactRecord(document as ContactDocument))]],
  [
    collections.sessions,
    (document) => [
      exported(sessionRecord(document as SessionDocument)),
      [SessionDetailSchema, sessionDetail(document as SessionDocument, [])],
    ],
  ],
  [
    collections.notes,
    (document) => [
      exported(noteRecord(document as NoteDocument)),
      [NoteSearchResultSchema, resultMessage(document as NoteDocument)],
    ],
  ],
  [
    collections.transcripts,
    (document) => {
      requireDeflated((document as TranscriptDocument).text);
      return [exported(transcriptRecord({ ...(document as TranscriptDocument), text: null }))];
    },
  ],
]);

function exported(record: ExportedRecord): readonly [DescMessage, Message] {
  return [RecordSchema, record];
}

/** Fails if a compressed text does not have its form. Does not inflate it, because a batch can have 32 MB of them. */
function requireDeflated(text: TranscriptDocument["text"]): void {
  if (text === null || text === undefined) return;
  const { blocks, size, crc } = text;
  if (!(blocks instanceof Binary) || !Number.isSafeInteger(size) || !Number.isSafeInteger(crc))
    throw new TypeError("the text is not compressed");
}

/**
 * Returns the violation of a document that its collection's reads could not return. Documents of other collections are
 * not checked. The BSON must be well-formed.
 */
export function unreadableDocument(collection: string, bson: Uint8Array, field: string): Violation | undefined {
  const mapping = mappings.get(collection);
  if (mapping === undefined) return undefined;
  const document = decode(Buffer.from(bson.buffer, bson.byteOffset, bson.byteLength));
  const problem = problemOf(mapping, document);
  if (problem === undefined) return undefined;
  const id = sanitizeForEcho(String(document["_id"]), maxIdLength);
  const message = `must be readable, but ${id} of ${collection} has ${problem}`;
  return { field, rule: "readable", message };
}

function problemOf(mapping: Mapping, document: Document): string | undefined {
  try {
    const [found] = mapping(document).flatMap(([schema, message]) => unrepresentableValues(schema, message));
    // An exported record has its item in a field of its own.
    return (
      found &&
      `an invalid value: ${found.field.replace(/^(?:contact|session|transcript|\w+_note)\./, "")} ${found.message}`
    );
  } catch {
    // The mappings expect the types of the store.
    return "a value of another type";
  }
}
