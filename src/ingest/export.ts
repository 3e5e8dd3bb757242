// Export of all records that Import accepts, in pages by id, which survive a failover and need no cursor.
import type { Collection, Document, MongoClient, UUID } from "mongodb";
import { MinKey } from "mongodb";
import { collections } from "../db/collections.ts";
import type { ContactDocument } from "../contacts/document.ts";
import { recordsIndex } from "../db/mongo.ts";
import { read } from "../db/read.ts";
import { withoutTerms } from "../db/search-fields.ts";
import type { ExportResponse } from "../gen/records/ingest/v1/import_pb.ts";
import type { Scope } from "../call/scope.ts";
import type { NoteDocument } from "../notes/document.ts";
import type { SessionDocument } from "../sessions/document.ts";
import type { TranscriptDocument } from "../sessions/transcripts.ts";
import { weightOf } from "./batches.ts";
import type { ExportedRecord } from "./exported.ts";
import { contactRecord, noteRecord, sessionRecord, transcriptRecord } from "./exported.ts";

/**
 * Reads all records of an account, page by page. Each record that exists throughout is returned exactly once.
 * `scopeOfPage` is called for each page, because a scope has a deadline and an export may take longer.
 */
export type Export = (scopeOfPage: () => Scope) => AsyncIterable<ExportResponse>;

/** The collection of a kind, its page size, and the conversion of its documents. */
interface Source {
  readonly collection: string;
  readonly page: number;
  readonly record: (document: never) => ExportedRecord;
}

/** Parents come before their children. A page of the largest records takes at most about 20 MB. */
const sources: readonly Source[] = [
  { collection: collections.contacts, page: 100, record: (document: ContactDocument) => contactRecord(document) },
  { collection: collections.sessions, page: 500, record: (document: SessionDocument) => sessionRecord(document) },
  {
    collection: collections.transcripts,
    page: 10,
    record: (document: TranscriptDocument) => transcriptRecord(document),
  },
  { collection: collections.notes, page: 200, record: (document: NoteDocument) => noteRecord(document) },
];

/** Creates the export of a database. */
export function createExport(client: MongoClient): Export {
  const db = client.db();
  return async function* (scopeOfPage) {
    for (const { collection, page, record } of sources) {
      for await (const documents of pagesOf(db.collection(collection), scopeOfPage, page)) {
        yield* messagesOf(documents.map((document) => record(document as never)));
      }
    }
  };
}

/**
 * Most gRPC clients accept messages of up to 4 MB. Only a message with a single record exceeds this number of
 * characters.
 */
const maxCharacters = 500_000;

function* messagesOf(records: readonly ExportedRecord[]): Iterable<ExportResponse> {
  let message: ExportedRecord[] = [];
  let characters = 0;
  for (const record of records) {
    const weight = record.record.value === undefined ? 0 : weightOf(record.record.value);
    if (message.length > 0 && characters + weight > maxCharacters) {
      yield { $typeName: "records.ingest.v1.ExportResponse", records: message };
      [message, characters] = [[], 0];
    }
    message.push(record);
    characters += weight;
  }
  yield { $typeName: "records.ingest.v1.ExportResponse", records: message };
}

async function* pagesOf(
  collection: Collection<Document>,
  scopeOfPage: () => Scope,
  page: number,
): AsyncIterable<Document[]> {
  let last: UUID | MinKey = new MinKey();
  for (;;) {
    const scope = scopeOfPage();
    const documents: Document[] = await read(
      collection,
      scope,
      [
        { $match: { account_id: scope.accountId, _id: { $gt: last } } },
        { $sort: { _id: 1 } },
        { $limit: page },
        { $project: { ...withoutTerms, own: 0 } },
      ],
      { hint: recordsIndex.name },
    );
    if (documents.length > 0) yield documents;
    if (documents.length < page) return;
    last = documents.at(-1)?.["_id"] as UUID;
  }
}
