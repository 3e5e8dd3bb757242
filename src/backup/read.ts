// Reads the documents of an account or of the service in pages, which survive a failover and hold no cursor.
import type { Document, MongoClient, UUID } from "mongodb";
import { BSON } from "mongodb";
import { aggregateStored } from "../db/aggregate.ts";
import { collections } from "../db/collections.ts";
import { databaseNow } from "../db/primary.ts";
import type { Deadline } from "../call/deadline.ts";
import type { ReadDocumentsResponse } from "../gen/records/admin/v1/backup_pb.ts";
import type { Documents, ReadPage } from "./keys.ts";
import { createReadKeysAndAccount } from "./keys.ts";
import { ownerField, rulesFor } from "./kept.ts";

/**
 * Reads the documents of an account, or those of the service if the id is undefined. `deadline` is called for each
 * page. Fails with NOT_FOUND if the account is deleted meanwhile, and with UNAVAILABLE if its keys keep changing.
 */
export type ReadDocuments = (
  accountId: UUID | undefined,
  deadline: () => Deadline,
) => AsyncIterable<ReadDocumentsResponse>;

/** The maximum size of a message, unless a single document is larger. Most clients accept up to 4 MB. */
const maxBytes = 1_000_000;
/** The size at which a page ends, because its documents are in memory together. A note can take 7 MB. */
const pageBytes = 8_000_000;
const storedDocument = { $typeName: "records.admin.v1.StoredDocument" } as const;

/** Creates the reader for the client's database. */
export function createReadDocuments(client: MongoClient): ReadDocuments {
  const db = client.db();

  const read: ReadPage = async (collection, stages, hint, deadline) => {
    const { rows, isCut } = await aggregateStored(db.collection(collection), stages, {
      ...(hint === undefined ? {} : { hint }),
      maxBytes: hint === undefined ? Infinity : pageBytes,
      deadline,
    });
    return { documents: rows.map((bson) => ({ ...storedDocument, collection, bson })), isCut };
  };

  const keysAndAccount = createReadKeysAndAccount(read, () => databaseNow(client));

  return async function* (accountId, deadline) {
    for (const { collection, pages, sort } of rulesFor(accountId === undefined ? "service" : "account")) {
      if (collection === collections.apiKeys || collection === collections.accounts) continue;
      const own = accountId === undefined ? {} : { [ownerField(collection)]: accountId };
      if (pages === undefined) {
        const stages = [{ $match: own }, ...(sort === undefined ? [] : [{ $sort: sort }])];
        yield* messagesOf((await read(collection, stages, undefined, deadline())).documents);
        continue;
      }
      const order = Object.fromEntries(pages.by.map((field) => [field, 1]));
      for (let after: Document = {}; ; ) {
        const stages = [{ $match: { ...own, ...after } }, { $sort: order }, { $limit: pages.size }];
        const { documents, isCut } = await read(collection, stages, pages.hint, deadline());
        yield* messagesOf(documents);
        const last = documents.at(-1);
        if (last === undefined || (documents.length < pages.size && !isCut)) break;
        after = afterOf(pages.by, BSON.deserialize(last.bson, { promoteValues: false }));
      }
    }
    if (accountId === undefined) return;
    for await (const documents of keysAndAccount(accountId, deadline)) yield* messagesOf(documents);
  };
}

/**
 * Returns the condition for documents after `last`, in the order of one or two fields. The condition on the first field
 * bounds the index scan.
 */
function afterOf([first = "_id", second]: readonly string[], last: Readonly<Record<string, unknown>>): Document {
  if (second === undefined) return { [first]: { $gt: last[first] } };
  const rest = { [first]: last[first], [second]: { $gt: last[second] } };
  return { [first]: { $gte: last[first] }, $or: [{ [first]: { $gt: last[first] } }, rest] };
}

function* messagesOf(all: Documents): Iterable<ReadDocumentsResponse> {
  let documents: Documents = [];
  let bytes = 0;
  for (const document of all) {
    if (documents.length > 0 && bytes + document.bson.length > maxBytes) {
      yield { $typeName: "records.admin.v1.ReadDocumentsResponse", documents };
      [documents, bytes] = [[], 0];
    }
    documents.push(document);
    bytes += document.bson.length;
  }
  if (documents.length > 0) yield { $typeName: "records.admin.v1.ReadDocumentsResponse", documents };
}
