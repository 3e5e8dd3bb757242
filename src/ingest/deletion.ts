// Permanent deletion of records and the records that belong to them.
import type { ClientSession, MongoClient, UUID } from "mongodb";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { ContactStore } from "../contacts/store.ts";
import { uuid } from "../db/mongo.ts";
import type { KnownRecord, NamedRecords, Outcome } from "../db/named.ts";
import type { WriteOptions } from "../db/write.ts";
import { commit } from "../db/write.ts";
import { Failure } from "../call/errors.ts";
import type { EraseResponses } from "../guards/erased-responses.ts";
import type { WriteScope } from "../call/scope.ts";
import type { NoteOwners, NoteStore } from "../notes/store.ts";
import type { SessionStore } from "../sessions/store.ts";
import type { TranscriptStore } from "../sessions/transcripts.ts";
import { eachConcurrently } from "./map-concurrently.ts";

/** The kinds of records that can be deleted. */
export type DeletedKind = "contact" | "session" | "transcript" | "note" | "session_note" | "contact_note";

/** A record to delete, named by its id or its external id. */
export interface DeletedName {
  /** Undefined if the kind is unknown. */
  readonly kind: DeletedKind | undefined;
  readonly id?: string;
  readonly externalId?: string;
}

/** A name and the id of its record. The id is undefined if there is no such record. */
interface ResolvedName {
  readonly name: DeletedName;
  readonly id: UUID | undefined;
}

/** Deletes records of one account per call. */
export interface Deletion {
  /**
   * Deletes records. Returns the outcomes in the order of the names. A name fails with NOT_FOUND if the account has no
   * such record.
   */
  delete(scope: WriteScope, names: readonly DeletedName[]): Promise<Outcome[]>;
}

/** The maximum number of records that one transaction deletes, and of transactions at once. */
const groupSize = 50;
const width = 8;
/**
 * The number of dependent records that are deleted or detached at once, so that no transaction grows with the account.
 */
const step = 500;

/** The stores of all kinds of records. */
export interface RecordStores {
  readonly contacts: ContactStore;
  readonly sessions: SessionStore;
  readonly transcripts: TranscriptStore;
  readonly notes: NoteStore;
}

/** Creates the deletion of a database's records. */
export function createDeletion(client: MongoClient, stores: RecordStores, eraseResponses: EraseResponses): Deletion {
  const deleteGroup = createDeleteGroup(client, stores, eraseResponses);

  return {
    async delete(scope, names) {
      const outcomes = new Map<DeletedName, Outcome>();
      // Deletes children before their parents, so that a named child still exists when its turn comes.
      for (const kinds of stages) {
        const due = names.filter(({ kind }) => kinds.some((one) => one === kind));
        const resolved = await resolveNames(stores, scope, due);
        const deleted = new Set<string>();
        await eachConcurrently(groupsOf(resolved), width, async (group) => {
          for (const id of await deleteGroup(scope, group)) deleted.add(keyOf(group.place, id));
        });
        // Of several names of one record, only the first deletes it.
        for (const { name, id } of resolved) {
          const isDeleted = id !== undefined && deleted.delete(keyOf(placeOf(name), id));
          outcomes.set(name, isDeleted ? { id } : { failure: new Failure(Reason.NOT_FOUND) });
        }
      }
      return names.map((name) => outcomes.get(name) as Outcome);
    },
  };
}

/** The kinds of records by where they are stored: a transcript has the id of its session. */
type Place = "contact" | "session" | "transcript" | "note";

/** Records of one place that are deleted together. */
interface Group {
  readonly place: Place;
  readonly ids: readonly UUID[];
}

function placeOf({ kind }: DeletedName): Place {
  return kind === "contact" || kind === "session" || kind === "transcript" ? kind : "note";
}

function keyOf(place: Place, id: UUID): string {
  return `${place} ${id.toHexString()}`;
}

function groupsOf(resolved: readonly ResolvedName[]): Group[] {
  const places = new Map<Place, Map<string, UUID>>();
  for (const { name, id } of resolved) {
    const place = placeOf(name);
    const ids = places.get(place) ?? new Map<string, UUID>();
    if (id !== undefined) places.set(place, ids.set(id.toHexString(), id));
  }
  return [...places].flatMap(([place, distinct]) => {
    const ids = [...distinct.values()];
    return Array.from({ length: Math.ceil(ids.length / groupSize) }, (_, at) => ({
      place,
      ids: ids.slice(at * groupSize, (at + 1) * groupSize),
    }));
  });
}

type Atomically = <T>(scope: WriteScope, work: (options: WriteOptions) => Promise<T>) => Promise<T>;

/** Creates the functions that delete or detach the dependents of records. */
function createOwnedDeletion(
  { sessions, notes }: RecordStores,
  eraseResponses: EraseResponses,
  atomically: Atomically,
) {
  /**
   * Deletes notes, and erases the stored responses that show these notes or the records in `of`. Returns the ids of the
   * notes.
   */
  async function deleteNotes(
    scope: WriteScope,
    which: Parameters<NoteStore["remove"]>[1],
    options: WriteOptions,
    { limit, of = [] }: { readonly limit?: number; readonly of?: readonly UUID[] } = {},
  ): Promise<UUID[]> {
    const ids = await notes.remove(scope, which, options, limit);
    await eraseResponses(scope, [...of, ...ids], options.session as ClientSession);
    return ids;
  }

  /**
   * Runs all steps but the last, which the owner's own transaction runs. Each step commits separately, so the next
   * request can resume after a timeout.
   */
  async function takeSteps(
    scope: WriteScope,
    count: (limit: number) => Promise<number>,
    take: (options: WriteOptions) => Promise<unknown>,
  ): Promise<void> {
    while ((await count(step + 1)) > step) await atomically(scope, take);
  }

  return {
    deleteNotes,
    deleteMostNotes: (scope: WriteScope, owners: NoteOwners): Promise<void> =>
      takeSteps(
        scope,
        (limit) => notes.countOf(scope, owners, limit),
        (options) => deleteNotes(scope, owners, options, { limit: step }),
      ),
    detachMostSessions: (scope: WriteScope, contactIds: readonly UUID[]): Promise<void> =>
      takeSteps(
        scope,
        (limit) => sessions.countOfClients(scope, contactIds, limit),
        (options) => sessions.detachClients(scope, contactIds, options, step),
      ),
  };
}

/** Deletes records and their dependents. Returns the ids of the records that existed. */
type DeleteGroup = (scope: WriteScope, group: Group) => Promise<readonly UUID[]>;

function createDeleteGroup(client: MongoClient, stores: RecordStores, eraseResponses: EraseResponses): DeleteGroup {
  const { contacts, sessions, transcripts } = stores;
  const atomically: Atomically = (scope, work) => commit(client, scope, undefined, work, { atomic: true });
  const { deleteNotes, deleteMostNotes, detachMostSessions } = createOwnedDeletion(stores, eraseResponses, atomically);

  async function deleteContacts(scope: WriteScope, ids: readonly UUID[]): Promise<readonly UUID[]> {
    const owners = { parent_id: { $in: ids }, kind: "contact" } as const;
    await detachMostSessions(scope, ids);
    await deleteMostNotes(scope, owners);
    return atomically(scope, async (options) => {
      const found = await contacts.remove(scope, ids, options);
      await deleteNotes(scope, { ...owners, parent_id: { $in: found } }, options, { of: found });
      await sessions.detachClients(scope, found, options);
      return found;
    });
  }

  async function deleteSessions(scope: WriteScope, ids: readonly UUID[]): Promise<readonly UUID[]> {
    const owners = { parent_id: { $in: ids }, kind: "session" } as const;
    await deleteMostNotes(scope, owners);
    return atomically(scope, async (options) => {
      const found = await sessions.remove(scope, ids, options);
      await deleteNotes(scope, { ...owners, parent_id: { $in: found } }, options);
      return found;
    });
  }

  async function deleteTranscripts(scope: WriteScope, ids: readonly UUID[]): Promise<readonly UUID[]> {
    const found: UUID[] = [];
    for (const id of ids) if (await transcripts.remove(scope, id)) found.push(id);
    return found;
  }

  return (scope, { place, ids }) => {
    if (place === "contact") return deleteContacts(scope, ids);
    if (place === "session") return deleteSessions(scope, ids);
    if (place === "transcript") return deleteTranscripts(scope, ids);
    return atomically(scope, (options) => deleteNotes(scope, { _id: { $in: ids } }, options));
  };
}

/** Resolves names to record ids, with one command for each kind. */
async function resolveNames(
  { contacts, sessions, notes }: RecordStores,
  scope: WriteScope,
  names: readonly DeletedName[],
): Promise<ResolvedName[]> {
  const sources: readonly {
    readonly kinds: readonly DeletedName["kind"][];
    find(due: readonly DeletedName[]): Promise<NamedRecords<KnownRecord>>;
  }[] = [
    { kinds: ["contact"], find: (due) => contacts.ids(scope, due) },
    { kinds: ["session", "transcript"], find: (due) => sessions.ids(scope, due) },
    { kinds: ["session_note"], find: (due) => notes.ids(scope, "session", due) },
    { kinds: ["contact_note"], find: (due) => notes.ids(scope, "contact", due) },
  ];
  const ids = new Map(names.flatMap((name) => (name.id === undefined ? [] : [[name, uuid(name.id)] as const])));
  for (const { kinds, find } of sources) {
    const due = names.filter((name) => name.id === undefined && kinds.includes(name.kind));
    if (due.length === 0) continue;
    const found = await find(due);
    for (const name of due) {
      const record = found.get(name);
      if (record !== undefined) ids.set(name, record._id);
    }
  }
  return names.map((name) => ({ name, id: ids.get(name) }));
}

const stages = [["note", "session_note", "contact_note", "transcript"], ["session"], ["contact"]] as const;
