// Writes a batch of records in one transaction. The result equals that of writing its items one by one in order.
import type { AnyBulkWriteOperation, ClientSession, Collection, Filter, MongoClient } from "mongodb";
import { MongoBulkWriteError } from "mongodb";
import { findAll } from "./aggregate.ts";
import type { WriteOptions } from "./write.ts";
import { commit } from "./write.ts";
import { Failure } from "../call/errors.ts";
import type { WriteScope } from "../call/scope.ts";
import type { FindNamedOptions, RecordName, KnownRecord, Outcome } from "./named.ts";
import { alreadyExists, findNamedAndConflicting } from "./named.ts";
import { createBatchOverlay } from "./batch-overlay.ts";
import { duplicateIndex } from "./mongo.ts";
import { primaryOf } from "./primary.ts";
import type { Changed } from "./batch-overlay.ts";

/** A batch to write. */
export interface BatchSpec<T extends KnownRecord> {
  /** How each item names its record. */
  readonly names: readonly RecordName[];
  /** How to find the records that the items touch; undefined if items replace existing records without reading them. */
  readonly find: Omit<FindNamedOptions, "session"> | undefined;
  /**
   * Reads the records that the items depend on. Returns a function that makes an item's record, or throws the item's
   * failure.
   */
  prepare(session: ClientSession): Promise<(at: number, before: T | undefined) => T>;
  /** Updates copies of the records' fields after the records are written. */
  finish?(changed: readonly Changed<T>[], options: WriteOptions): Promise<void>;
}

/** Other accounts have some of the ids, and nothing was written. */
class IdsTaken extends Error {
  override readonly name = "IdsTaken";
  readonly ids: ReadonlySet<string>;

  constructor(ids: ReadonlySet<string>) {
    super();
    this.ids = ids;
  }
}

/**
 * Writes the batch. The items are applied in order in memory, and only the resulting records are written. A record that
 * conflicts is retried once with fresh data. If it conflicts again, its items fail. An item whose id belongs to another
 * account fails at once.
 */
export async function putBatch<T extends KnownRecord>(
  client: MongoClient,
  scope: WriteScope,
  collection: Collection<T>,
  spec: BatchSpec<T>,
): Promise<Outcome[]> {
  const collisions = new Map<number, number>();
  for (;;) {
    let written: readonly Changed<T>[] = [];
    try {
      return await commit(client, scope, undefined, work, { atomic: true });
    } catch (error) {
      const taken = error instanceof IdsTaken ? error.ids : await takenAfter(error);
      for (const at of itemsWith(taken, written, spec.names)) collisions.set(at, 2);
    }

    /**
     * Returns the ids that other accounts have, if one of them was the reason for the error. All are found at once,
     * because one by one, each would cost a transaction. Otherwise counts the collision.
     */
    async function takenAfter(error: unknown): Promise<ReadonlySet<string>> {
      if (!(error instanceof MongoBulkWriteError) || duplicateIndex(error) === undefined) throw error;
      const collided = written[[error.writeErrors].flat()[0]?.index ?? -1];
      if (collided === undefined) throw error;
      const taken = await takenByOthers(collection, scope, written);
      if (taken.size === 0) for (const at of collided.items) collisions.set(at, (collisions.get(at) ?? 0) + 1);
      return taken;
    }

    async function work(options: WriteOptions): Promise<Outcome[]> {
      const session = options.session as ClientSession;
      const recordOf = await spec.prepare(session);
      const found =
        spec.find === undefined
          ? []
          : await findNamedAndConflicting(collection, scope, spec.names, { ...spec.find, session });
      const overlay = createBatchOverlay(found, spec.find?.kind);
      const outcomes = spec.names.map((name, at): Outcome => {
        try {
          return overlay.put(at, name, (before) => {
            // An invalid item reports its own violation first, as if sent alone.
            const record = recordOf(at, before);
            if ((collisions.get(at) ?? 0) > 1) throw alreadyExists().failure;
            return record;
          });
        } catch (error) {
          if (error instanceof Failure) return { failure: error };
          throw error;
        }
      });
      // Sorts new records first, so that one command inserts them all.
      written = [...overlay.changed()].sort((a, b) => Number(a.before !== undefined) - Number(b.before !== undefined));
      // No index spans the shards of a cluster.
      if (primaryOf(client).sharded()) await requireFree(collection, scope, written);
      await writeAll(collection, scope, written, spec.find === undefined, options);
      await spec.finish?.(written, options);
      return outcomes;
    }
  }
}

/**
 * Returns the items of the records with these ids. These are the items that name the id, if there are any: without
 * them, an item that names the record by its external id creates another one.
 */
function itemsWith<T extends KnownRecord>(
  ids: ReadonlySet<string>,
  changed: readonly Changed<T>[],
  names: readonly RecordName[],
): readonly number[] {
  return changed.flatMap(({ record, items }) => {
    const id = record._id.toHexString();
    if (!ids.has(id)) return [];
    const naming = items.filter((at) => names[at]?.id?.toLowerCase() === id);
    return naming.length > 0 ? naming : items;
  });
}

async function writeAll<T extends KnownRecord>(
  collection: Collection<T>,
  scope: WriteScope,
  changed: readonly Changed<T>[],
  overwrite: boolean,
  options: WriteOptions,
): Promise<void> {
  if (changed.length === 0) return;
  // Before other writes, frees external ids that move from one record to another.
  const claimed = new Set(changed.map(({ record }) => record.external_id));
  const releasingExternalId = changed.filter(
    ({ before, record }) =>
      before?.external_id !== undefined && before.external_id !== record.external_id && claimed.has(before.external_id),
  );
  if (releasingExternalId.length > 0) {
    const filter = {
      account_id: scope.accountId,
      _id: { $in: releasingExternalId.map(({ record }) => record._id) },
    } as unknown as Filter<T>;
    await collection.updateMany(filter, { $unset: { external_id: "" } } as never, options);
  }
  const operations = changed.map(({ before, record }) =>
    before === undefined && !overwrite
      ? { insertOne: { document: record } }
      : { replaceOne: { filter: { _id: record._id, account_id: scope.accountId }, replacement: record, upsert: true } },
  ) as unknown as AnyBulkWriteOperation<T>[];
  await collection.bulkWrite(operations, options);
}

/** Throws IdsTaken if another account already has the id of a new record. */
async function requireFree<T extends KnownRecord>(
  collection: Collection<T>,
  scope: WriteScope,
  changed: readonly Changed<T>[],
): Promise<void> {
  const taken = await takenByOthers(collection, scope, changed);
  if (taken.size > 0) throw new IdsTaken(taken);
}

/** Returns the ids of new records that another account already has. */
async function takenByOthers<T extends KnownRecord>(
  collection: Collection<T>,
  scope: WriteScope,
  changed: readonly Changed<T>[],
): Promise<ReadonlySet<string>> {
  const ids = changed.flatMap(({ before, record }) => (before === undefined ? [record._id] : []));
  if (ids.length === 0) return new Set();
  const filter = { _id: { $in: ids }, account_id: { $ne: scope.accountId } } as unknown as Filter<T>;
  return new Set(
    (await findAll<T>(collection, filter, { projection: { _id: 1 }, deadline: scope.deadline })).map(({ _id }) =>
      _id.toHexString(),
    ),
  );
}
