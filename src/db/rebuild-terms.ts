// Rebuilds search terms of the previous release, beside reads and writes.
import type { Document, MongoClient, UUID } from "mongodb";
import { deadlineIn } from "../call/deadline.ts";
import { mapInPieces } from "../large/pieces.ts";
import { findAll } from "./aggregate.ts";
import { hasPreviousTerms, previousTermsIndex } from "./previous-terms.ts";
import { textField } from "./search-fields.ts";
import { write } from "./write.ts";

/** A stored record. */
interface StoredRecord extends Document {
  readonly _id: UUID;
  readonly account_id: UUID;
  readonly rank: number;
}

/** How the records of a collection get their terms. */
export interface Rebuild {
  /** The fields with the terms, derived from the record. */
  fieldsOf(record: Document): Document;
  /** A filter that the record matches until it changes. */
  unchanged(record: Document): Document;
}

const atOnce = 100;
const batchMs = 20_000;

/**
 * Rebuilds the terms of every record that has those of the previous release. It continues where another run ended,
 * because only such records are in the index. A record that changes meanwhile is not overwritten, and is read again.
 * Calls `onBatch` with the number of records so far, and returns it.
 */
export async function rebuildTerms(
  client: MongoClient,
  name: string,
  { fieldsOf, unchanged }: Rebuild,
  onBatch: (count: number) => void,
): Promise<number> {
  const collection = client.db().collection<StoredRecord>(name);
  let count = 0;
  let from: number | undefined;
  for (;;) {
    const records = await findAll<StoredRecord>(
      collection,
      // Begins where the last batch ended: before that, the index has only entries that were just removed.
      { ...hasPreviousTerms, ...(from === undefined ? {} : { rank: { $gte: from } }) },
      { sort: { rank: 1 }, limit: atOnce, hint: previousTermsIndex.name, deadline: undefined },
    );
    if (records.length === 0 && from === undefined) return count;
    from = records.at(-1)?.rank;
    if (records.length === 0) continue;
    const deadline = deadlineIn(batchMs);
    const changes = await mapInPieces(records, deadline, (record) => ({
      filter: { _id: record._id, account_id: record.account_id, ...textOf(record), ...unchanged(record) },
      update: { $set: fieldsOf(record) },
    }));
    const { matchedCount } = await write(client, deadline, (options, fence) =>
      collection.bulkWrite(
        changes.map(({ filter, update }) => ({ updateOne: { filter: { ...filter, ...fence }, update } })),
        { ordered: false, ...options },
      ),
    );
    count += matchedCount;
    onBatch(count);
  }
}

function textOf(record: Document): Document {
  return { [textField]: record[textField] as string };
}
