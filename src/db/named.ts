// Finds records by the names in the items of a batch: their id or their external id.
import type { ClientSession, Collection, Document, Filter } from "mongodb";
import { UUID } from "mongodb";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { findAll } from "./aggregate.ts";
import { uuid } from "./mongo.ts";
import { newRevision } from "./conflicts.ts";
import { Failure, fail } from "../call/errors.ts";
import type { WriteScope } from "../call/scope.ts";
import { requireGrant } from "../call/scope.ts";
import type { WriteOptions } from "./write.ts";

/** The fields that every kind of record has. */
export interface KnownRecord {
  _id: UUID;
  account_id: UUID;
  external_id?: string;
}

/** How an item of a batch names its record. */
export interface RecordName {
  readonly id?: string | undefined;
  readonly externalId?: string | undefined;
}

/** The records of an account that were found by name. */
export interface NamedRecords<T> {
  /** Returns the record with this id. Without an id, returns the one with this external id. */
  get(name: RecordName): T | undefined;
}

/** The effect of a write on a record. An `unchanged` record is not written. */
export type Change = "created" | "updated" | "unchanged";

/** The outcome of one item: the written record with its change, if known, or the failure. */
export type Outcome = { readonly id: UUID; readonly change?: Change } | { readonly failure: Failure };

/** Options for finding records. */
export interface FindNamedOptions {
  /** The projection; by default, whole records. */
  readonly fields?: Document;
  /** Set if external ids are unique only within a kind. */
  readonly kind?: string;
  readonly session?: ClientSession;
}

/** Finds all named records by one command. */
export async function findNamed<T extends KnownRecord>(
  collection: Collection<T>,
  scope: WriteScope,
  names: readonly RecordName[],
  options: FindNamedOptions = {},
): Promise<NamedRecords<T>> {
  return namedAmong(await find(collection, scope, namedFilter<T>(scope, names, options.kind), options));
}

/** Finds and locks named parents: a method of their store. */
export type LockNamed<T> = (
  scope: WriteScope,
  names: readonly RecordName[],
  session: ClientSession,
) => Promise<NamedRecords<T>>;

/** Finds and locks the parents of records: the update conflicts with every concurrent change or deletion. */
export async function lockNamed<T extends KnownRecord>(
  collection: Collection<T>,
  scope: WriteScope,
  names: readonly RecordName[],
  options: FindNamedOptions & { readonly session: ClientSession },
): Promise<NamedRecords<T>> {
  const filter = namedFilter<T>(scope, names, options.kind);
  if (filter !== undefined)
    await collection.updateMany(filter, { $set: { version: newRevision() } } as never, { session: options.session });
  return namedAmong(await find(collection, scope, filter, options));
}

async function find<T extends KnownRecord>(
  collection: Collection<T>,
  { deadline }: WriteScope,
  filter: Filter<T> | undefined,
  { fields, kind, session }: FindNamedOptions,
): Promise<T[]> {
  if (filter === undefined) return [];
  const projected = { account_id: 1, external_id: 1, ...(kind === undefined ? {} : { kind: 1 }), ...fields };
  const options = fields === undefined ? {} : { projection: projected };
  if (session === undefined) return findAll<T>(collection, filter, { ...options, deadline });
  return (await collection.find(filter, { ...options, session }).toArray()) as T[];
}

/** Deletes the matching records, at most `limit` if given, within a transaction. Returns their ids. */
export async function removeFound<T extends KnownRecord>(
  collection: Collection<T>,
  scope: WriteScope,
  which: Filter<T>,
  options: WriteOptions,
  limit = 0,
): Promise<UUID[]> {
  requireGrant(scope);
  const found = await collection
    .find({ ...which, account_id: scope.accountId }, { projection: { _id: 1 }, limit, ...options })
    .toArray();
  const ids = found.map(({ _id }) => _id);
  if (ids.length > 0)
    await collection.deleteMany({ _id: { $in: ids }, account_id: scope.accountId } as Filter<T>, options);
  return ids;
}

function namedAmong<T extends KnownRecord>(records: readonly T[]): NamedRecords<T> {
  const byId = new Map(records.map((record) => [record._id.toHexString(), record]));
  const byExternalId = new Map(records.map((record) => [record.external_id, record]));
  return {
    get({ id, externalId }) {
      if (id !== undefined) return byId.get(id.toLowerCase());
      return externalId === undefined ? undefined : byExternalId.get(externalId);
    },
  };
}

/** The unique index of external ids, which identify one record of an account. */
export const externalIdIndex = {
  key: { account_id: 1, external_id: 1 },
  name: "external_id",
  unique: true,
  partialFilterExpression: { external_id: { $type: "string" } },
} as const;

/**
 * Returns the condition on `external_id`. The planner uses the partial index only if the condition repeats the type.
 */
function withExternalId(externalIds: readonly string[]): Document {
  return { $in: externalIds, $type: "string" };
}

/**
 * Returns the filter for the named records; undefined without names. With `touched`, it also matches records that
 * conflict with an item: by the external id of an item that has an id, or by an id of another kind.
 */
function namedFilter<T>(
  scope: WriteScope,
  names: readonly RecordName[],
  kind: string | undefined,
  touched = false,
): Filter<T> | undefined {
  const ids = names.flatMap(({ id }) => (id === undefined ? [] : [uuid(id)]));
  const externalIds = names.flatMap(({ id, externalId }) =>
    (id !== undefined && !touched) || externalId === undefined ? [] : [externalId],
  );
  const account = { account_id: scope.accountId };
  const ofKind = kind === undefined ? {} : { kind };
  const branches = [
    ...(ids.length === 0 ? [] : [{ ...account, ...(touched ? {} : ofKind), _id: { $in: ids } }]),
    ...(externalIds.length === 0 ? [] : [{ ...account, ...ofKind, external_id: withExternalId(externalIds) }]),
  ];
  return branches.length === 0 ? undefined : ({ $or: branches } as unknown as Filter<T>);
}

/** Finds the records that the items of a batch name, and those that conflict with them, by one command. */
export function findNamedAndConflicting<T extends KnownRecord>(
  collection: Collection<T>,
  scope: WriteScope,
  names: readonly RecordName[],
  options: FindNamedOptions,
): Promise<T[]> {
  return find(collection, scope, namedFilter<T>(scope, names, options.kind, true), options);
}

/** Returns the failure of an item whose id or external id belongs to another record. */
export function alreadyExists(): { readonly failure: Failure } {
  return {
    failure: new Failure(Reason.ALREADY_EXISTS, { message: "the id or external_id already belongs to another record" }),
  };
}

/** Returns the identity of an item's record: its own id, that of the record it replaces, or a new one. */
export function identityOf(scope: WriteScope, { id, externalId }: RecordName, before: KnownRecord | undefined) {
  const external = externalId ?? before?.external_id;
  return {
    _id: before?._id ?? (id === undefined ? new UUID() : uuid(id)),
    account_id: scope.accountId,
    ...(external === undefined ? {} : { external_id: external }),
  };
}

/** Returns the parent of an item. Fails if the item names no parent, a missing one, or two different ones. */
export function parentOf<T extends KnownRecord>(kind: string, name: RecordName, parents: NamedRecords<T>): T {
  const { id, externalId } = name;
  if (id === undefined && externalId === undefined)
    fail(Reason.INVALID_REQUEST, { message: `${kind}_id or ${kind}_external_id is required` });
  const parent =
    parents.get(name) ?? fail(Reason.NOT_FOUND, { message: `${kind}: there is no such record in this account` });
  if (id === undefined || externalId === undefined || parent.external_id === externalId) return parent;
  return fail(Reason.INVALID_REQUEST, {
    message: `${kind}_id and ${kind}_external_id: must name the same record, or set only one of them`,
  });
}
