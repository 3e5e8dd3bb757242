// Writes documents exactly as they were stored before, in a transaction. Only restores use it.
import type { ClientSession, Collection, Document, Filter } from "mongodb";
import { BSON } from "mongodb";

/** Inserts or replaces documents. `owner` is the condition that each existing document must meet besides its id. */
export async function putStored(
  collection: Collection<Document>,
  documents: readonly Document[],
  owner: Document,
  session: ClientSession,
): Promise<void> {
  const replacements = documents.map(({ _id, ...replacement }) => ({
    replaceOne: { filter: { _id: _id as unknown, ...owner } as Filter<Document>, replacement, upsert: true },
  }));
  await collection.bulkWrite(replacements, { session });
}

/** Inserts the documents whose id does not exist yet. Existing documents stay unchanged. */
export async function addStored(
  collection: Collection<Document>,
  documents: readonly Document[],
  session: ClientSession,
): Promise<void> {
  const ids = { _id: { $in: documents.map(({ _id }) => _id as unknown) } } as Filter<Document>;
  const present = await collection.find(ids, { session, projection: { _id: 1 } }).toArray();
  const known = new Set(present.map(({ _id }) => BSON.EJSON.stringify(_id)));
  const missing = documents.filter(({ _id }) => {
    const name = BSON.EJSON.stringify(_id as object);
    // The same id can come twice.
    return !known.has(name) && known.add(name);
  });
  if (missing.length > 0) await collection.insertMany(missing, { session });
}
