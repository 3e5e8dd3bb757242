// A batch of items: finds the records that they name in one command, writes them in one, and answers item by item.
import type { AnyBulkWriteOperation, ClientSession, Collection, Document, Filter, MongoClient } from "mongodb";
import { MongoBulkWriteError, UUID } from "mongodb";
import type { ItemResult } from "../gen/records/ingest/v1/items_pb.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { findAll } from "../db/aggregate.ts";
import { uuid } from "../db/mongo.ts";
import type { WriteOptions } from "../db/write.ts";
import { commit, newRevision } from "../db/write.ts";
import { Failure, fail } from "../errors.ts";
import type { WriteScope } from "../guards/scope.ts";

/** What every kind of record has. */
export interface KnownRecord {
  _id: UUID;
  account_id: UUID;
  external_id?: string;
}

/** How an item says which record it means. */
export interface ItemName {
  readonly id?: string | undefined;
  readonly externalId?: string | undefined;
}

/** The records of an account that names were given for. */
export interface NamedRecords<T> {
  /** The record with this id, else the one with this external id. */
  get(name: ItemName): T | undefined;
}

/** What one item comes to: a record to put in place, `fresh` where none is known yet, or why it fails. */
export type Outcome<T> = { readonly id: UUID; readonly put?: T; readonly fresh?: boolean } | { readonly failure: Failure };

/** How records are looked for. */
export interface FindOptions {
  /** What of the records is needed; all of them where it is not said. */
  readonly fields?: Document;
  /** Where external ids are unique only within a kind. */
  readonly kind?: string;
  readonly session?: ClientSession;
}

/**
 * Finds the records that any of the names means, in one command. The names are those of a batch's own items: one that
 * gives a record its external id means that record to the others too.
 */
export async function findNamed<T extends KnownRecord>(collection: Collection<T>, scope: WriteScope, names: readonly ItemName[], options: FindOptions = {}): Promise<NamedRecords<T>> {
  const found = await find(collection, scope, names, options);
  const given = new Map<string, T>();
  for (const { id, externalId } of names) {
    const record = id === undefined ? undefined : found.get({ id });
    if (record !== undefined && externalId !== undefined) given.set(externalId, record);
  }
  return { get: (name) => found.get(name) ?? (name.id === undefined ? given.get(name.externalId ?? "") : undefined) };
}

/** Finds what others belong to, and marks it first, so that in the same transaction nothing else can change or delete it. */
export async function holdNamed<T extends KnownRecord>(
  collection: Collection<T>,
  scope: WriteScope,
  names: readonly ItemName[],
  options: FindOptions & { readonly session: ClientSession },
): Promise<NamedRecords<T>> {
  const filter = namedFilter<T>(scope, names, options.kind);
  if (filter !== undefined) await collection.updateMany(filter, { $set: { version: newRevision() } } as never, { session: options.session });
  return find(collection, scope, names, options);
}

async function find<T extends KnownRecord>(collection: Collection<T>, scope: WriteScope, names: readonly ItemName[], { fields, kind, session }: FindOptions): Promise<NamedRecords<T>> {
  const filter = namedFilter<T>(scope, names, kind);
  const options = fields === undefined ? {} : { projection: { account_id: 1, external_id: 1, ...fields } };
  const found = filter === undefined ? [] : session === undefined ? await findAll<T>(collection, filter, options) : ((await collection.find(filter, { ...options, session }).toArray()) as T[]);
  const byId = new Map(found.map((record) => [record._id.toHexString(), record]));
  const byExternalId = new Map(found.map((record) => [record.external_id, record]));
  return {
    get({ id, externalId }) {
      if (id !== undefined) return byId.get(id.toLowerCase());
      return externalId === undefined ? undefined : byExternalId.get(externalId);
    },
  };
}

/** The condition on `external_id`. The type is said again for the planner, who does not take the partial index without. */
export function withExternalId(externalIds: readonly string[]): Document {
  return { $in: externalIds, $type: "string" };
}

function namedFilter<T>(scope: WriteScope, names: readonly ItemName[], kind: string | undefined): Filter<T> | undefined {
  const ids = names.flatMap(({ id }) => (id === undefined ? [] : [uuid(id)]));
  const externalIds = names.flatMap(({ id, externalId }) => (id !== undefined || externalId === undefined ? [] : [externalId]));
  const account = { account_id: scope.accountId, ...(kind === undefined ? {} : { kind }) };
  const branches = [
    ...(ids.length === 0 ? [] : [{ ...account, _id: { $in: ids } }]),
    ...(externalIds.length === 0 ? [] : [{ ...account, external_id: withExternalId(externalIds) }]),
  ];
  return branches.length === 0 ? undefined : ({ $or: branches } as unknown as Filter<T>);
}

/**
 * Puts a batch of records in place in one transaction, in which `build` reads what they depend on. A record that cannot
 * be written is tried once more with what has changed by then, and turns into a failure after that.
 */
export async function putBatch<T extends KnownRecord>(
  client: MongoClient,
  scope: WriteScope,
  collection: Collection<T>,
  build: (session: ClientSession) => Promise<Outcome<T>[]>,
): Promise<Outcome<T>[]> {
  const collisions = new Map<number, number>();
  for (;;) {
    let puts: Put<T>[] = [];
    try {
      return await commit(client, scope, undefined, work, { atomic: true });
    } catch (error) {
      if (!(error instanceof MongoBulkWriteError) || error.code !== 11000) throw error;
      const collided = puts[[error.writeErrors].flat()[0]?.index ?? -1]?.at;
      if (collided === undefined) throw error;
      collisions.set(collided, (collisions.get(collided) ?? 0) + 1);
      // Others may collide as well: each by itself would cost a transaction.
      for (const at of await takenByOthers(collection, scope, puts)) collisions.set(at, 2);
    }

    async function work({ session }: WriteOptions): Promise<Outcome<T>[]> {
      const built = await build(session as ClientSession);
      const outcomes = withoutRepeats(built.map((outcome, at) => ((collisions.get(at) ?? 0) > 1 ? alreadyExists() : outcome)));
      puts = outcomes.flatMap((outcome, at) => ("put" in outcome && outcome.put !== undefined ? [{ at, record: outcome.put, fresh: outcome.fresh === true }] : []));
      // New records together, so that they go in by one command.
      puts.sort((a, b) => Number(b.fresh) - Number(a.fresh));
      const operations = puts.map(({ record, fresh }) =>
        fresh ? { insertOne: { document: record } } : { replaceOne: { filter: { _id: record._id, account_id: scope.accountId }, replacement: record, upsert: true } },
      ) as unknown as AnyBulkWriteOperation<T>[];
      if (operations.length > 0) await collection.bulkWrite(operations, { session: session as ClientSession });
      return outcomes;
    }
  }
}

/** A record to put in place, and which item of the batch it is. */
interface Put<T> {
  readonly at: number;
  readonly record: T;
  readonly fresh: boolean;
}

/** The places of new records whose id another account has. */
async function takenByOthers<T extends KnownRecord>(collection: Collection<T>, scope: WriteScope, puts: readonly Put<T>[]): Promise<number[]> {
  const fresh = puts.filter(({ fresh }) => fresh);
  const filter = { _id: { $in: fresh.map(({ record }) => record._id) }, account_id: { $ne: scope.accountId } } as unknown as Filter<T>;
  const others = new Set((await findAll<T>(collection, filter, { projection: { _id: 1 } })).map(({ _id }) => String(_id)));
  return fresh.filter(({ record }) => others.has(record._id.toHexString())).map(({ at }) => at);
}

/** The failure of an item whose id or external id another record has. */
export function alreadyExists(): { readonly failure: Failure } {
  return { failure: new Failure(Reason.ALREADY_EXISTS, { message: "the id or external_id belongs to another record" }) };
}

/** Where a batch names one record twice, by its id or its external id, both items are that record, as the last one has it. */
function withoutRepeats<T extends KnownRecord>(outcomes: readonly Outcome<T>[]): Outcome<T>[] {
  const settled = [...outcomes];
  const seen = new Map<string, number>();
  for (const [at, outcome] of settled.entries()) {
    if (!("put" in outcome) || outcome.put === undefined) continue;
    const { external_id } = outcome.put;
    const names = [`id ${outcome.id.toHexString()}`, ...(external_id === undefined ? [] : [`external_id ${external_id}`])];
    const first = names.map((name) => seen.get(name)).find((earlier) => earlier !== undefined);
    const earlier = first === undefined ? undefined : settled[first];
    if (first !== undefined && earlier !== undefined && "id" in earlier) {
      settled[first] = { id: earlier.id };
      settled[at] = { ...outcome, id: earlier.id, put: { ...outcome.put, _id: earlier.id } };
    }
    for (const name of names) seen.set(name, at);
  }
  return settled;
}

/** The results of a batch, one for each item, in the same order. */
export function resultsOf<T>(items: readonly ItemName[], outcomes: readonly Outcome<T>[]): ItemResult[] {
  return items.map(({ id, externalId }, at) => {
    const outcome = outcomes[at];
    const named = externalId === undefined ? {} : { externalId };
    const base = { $typeName: "records.ingest.v1.ItemResult", ...named } as const;
    if (outcome === undefined || "id" in outcome) return { ...base, id: outcome?.id.toHexString() ?? "" };
    const { reason, message } = outcome.failure;
    return { ...base, id: id ?? "", error: { $typeName: "records.ingest.v1.ItemError", reason, message } };
  });
}

/** The id of the record that an item becomes: its own, that of the record it replaces, or a new one. */
export function identityOf(scope: WriteScope, { id, externalId }: ItemName, before: KnownRecord | undefined) {
  const external = externalId ?? before?.external_id;
  return {
    _id: before?._id ?? (id === undefined ? new UUID() : uuid(id)),
    account_id: scope.accountId,
    ...(external === undefined ? {} : { external_id: external }),
  };
}

/** What an item belongs to; fails where it does not say so, names what is not there, or names two. */
export function parentOf<T extends KnownRecord>(kind: string, name: ItemName, parents: NamedRecords<T>): T {
  const { id, externalId } = name;
  if (id === undefined && externalId === undefined) fail(Reason.INVALID_REQUEST, { message: `${kind}_id or ${kind}_external_id is required` });
  const parent = parents.get(name) ?? fail(Reason.NOT_FOUND, { message: `${kind}: there is no such record in this account` });
  if (id === undefined || externalId === undefined || parent.external_id === externalId) return parent;
  return fail(Reason.INVALID_REQUEST, { message: `${kind}_id and ${kind}_external_id: must name the same record, or only one of them be given` });
}

/** The outcome of an item, or the failure with which it could not be told. */
export function attempted<T>(outcome: () => Outcome<T>): Outcome<T> {
  try {
    return outcome();
  } catch (error) {
    if (error instanceof Failure) return { failure: error };
    throw error;
  }
}
