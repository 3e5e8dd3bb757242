// Records by the names that the items of a batch give them: their id or their external id.
import type { ClientSession, Collection, Document, Filter } from "mongodb";
import { UUID } from "mongodb";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { findAll } from "./aggregate.ts";
import { uuid } from "./mongo.ts";
import { newRevision } from "./conflicts.ts";
import { Failure, fail } from "../errors.ts";
import type { WriteScope } from "../call/scope.ts";

/** What every kind of record has. */
export interface KnownRecord {
  _id: UUID;
  account_id: UUID;
  external_id?: string;
}

/** How an item of a batch says which record it means. */
export interface RecordName {
  readonly id?: string | undefined;
  readonly externalId?: string | undefined;
}

/** The records of an account that names were given for. */
export interface NamedRecords<T> {
  /** The record with this id, else the one with this external id. */
  get(name: RecordName): T | undefined;
}

/** What a write did to a record; `unchanged` is not written. */
export type Change = "created" | "updated" | "unchanged";

/** The outcome of one item: the record that was written, and what that did where it is known; or why the item fails. */
export type Outcome = { readonly id: UUID; readonly change?: Change } | { readonly failure: Failure };

/** How records are looked for. */
export interface FindOptions {
  /** What of the records is needed; all of them where it is not said. */
  readonly fields?: Document;
  /** Where external ids are unique only within a kind. */
  readonly kind?: string;
  readonly session?: ClientSession;
}

/** Finds the records that any of the names means, in one command. */
export async function findNamed<T extends KnownRecord>(
  collection: Collection<T>,
  scope: WriteScope,
  names: readonly RecordName[],
  options: FindOptions = {},
): Promise<NamedRecords<T>> {
  return namedAmong(await find(collection, scope, namedFilter<T>(scope, names, options.kind), options));
}

/** Locks what others belong to: a method of its store. */
export type LockNamed<T> = (
  scope: WriteScope,
  names: readonly RecordName[],
  session: ClientSession,
) => Promise<NamedRecords<T>>;

/**
 * Finds what others belong to, and marks it first, so that in the same transaction nothing else can change or delete
 * it.
 */
export async function lockNamed<T extends KnownRecord>(
  collection: Collection<T>,
  scope: WriteScope,
  names: readonly RecordName[],
  options: FindOptions & { readonly session: ClientSession },
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
  { fields, kind, session }: FindOptions,
): Promise<T[]> {
  if (filter === undefined) return [];
  const projected = { account_id: 1, external_id: 1, ...(kind === undefined ? {} : { kind: 1 }), ...fields };
  const options = fields === undefined ? {} : { projection: projected };
  if (session === undefined) return findAll<T>(collection, filter, { ...options, deadline });
  return (await collection.find(filter, { ...options, session }).toArray()) as T[];
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

/** The index by which the records of a collection are found by their external ids, each of which one record has. */
export const externalIdIndex = {
  key: { account_id: 1, external_id: 1 },
  name: "external_id",
  unique: true,
  partialFilterExpression: { external_id: { $type: "string" } },
} as const;

/**
 * The condition on `external_id`. The type is said again for the planner, who does not take the partial index without.
 */
function withExternalId(externalIds: readonly string[]): Document {
  return { $in: externalIds, $type: "string" };
}

/**
 * The filter for the records that the names mean. With `touched` it also finds records that conflict with an item: by
 * the external id of an item that has an id, or by an id of another kind.
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

/** Finds the records that the items of a batch mean, and those that conflict with them, in one command. */
export function findTouched<T extends KnownRecord>(
  collection: Collection<T>,
  scope: WriteScope,
  names: readonly RecordName[],
  options: FindOptions,
): Promise<T[]> {
  return find(collection, scope, namedFilter<T>(scope, names, options.kind, true), options);
}

/** The failure of an item whose id or external id another record has. */
export function alreadyExists(): { readonly failure: Failure } {
  return {
    failure: new Failure(Reason.ALREADY_EXISTS, { message: "the id or external_id already belongs to another record" }),
  };
}

/** The id of the record that an item becomes: its own, that of the record it replaces, or a new one. */
export function identityOf(scope: WriteScope, { id, externalId }: RecordName, before: KnownRecord | undefined) {
  const external = externalId ?? before?.external_id;
  return {
    _id: before?._id ?? (id === undefined ? new UUID() : uuid(id)),
    account_id: scope.accountId,
    ...(external === undefined ? {} : { external_id: external }),
  };
}

/** What an item belongs to; fails where it does not say so, names what is not there, or names two. */
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
