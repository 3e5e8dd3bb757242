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
import type { NoteOwner, NoteStore } from "../notes/store.ts";
import type { SessionStore } from "../sessions/store.ts";
import type { TranscriptStore } from "../sessions/transcripts.ts";
import { mapConcurrently } from "./map-concurrently.ts";

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

/** The maximum number of records that are deleted concurrently. */
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
  const deleteById = createDeleteById(client, stores, eraseResponses);

  async function deleteResolved(scope: WriteScope, { name, id }: ResolvedName): Promise<Outcome> {
    const deleted = id !== undefined && (await deleteById(scope, name.kind, id));
    return deleted ? { id } : { failure: new Failure(Reason.NOT_FOUND) };
  }

  return {
    async delete(scope, names) {
      const outcomes = new Map<DeletedName, Outcome>();
      // Deletes children before their parents, so that a named child still exists when its turn comes.
      for (const kinds of stages) {
        const due = names.filter(({ kind }) => kinds.some((one) => one === kind));
        const resolved = await resolveNames(stores, scope, due);
        // Names of one record run in sequence, and only the first finds it.
        const namesOf = ({ id }: ResolvedName): string[] => (id === undefined ? [] : [id.toHexString()]);
        const deleted = await mapConcurrently(resolved, { width, names: namesOf }, (one) => deleteResolved(scope, one));
        for (const [at, name] of due.entries()) outcomes.set(name, deleted[at] as Outcome);
      }
      return names.map((name) => outcomes.get(name) as Outcome);
    },
  };
}

type Atomically = <T>(scope: WriteScope, work: (options: WriteOptions) => Promise<T>) => Promise<T>;

/** Creates the functions that delete or detach the dependents of records. */
function createOwnedDeletion(
  { sessions, notes }: RecordStores,
  eraseResponses: EraseResponses,
  atomically: Atomically,
) {
  /**
   * Deletes notes, and erases the stored responses that show these notes or the records in `of`. Returns the number of
   * notes.
   */
  async function deleteNotes(
    scope: WriteScope,
    which: Parameters<NoteStore["remove"]>[1],
    options: WriteOptions,
    { limit, of = [] }: { readonly limit?: number; readonly of?: readonly UUID[] } = {},
  ): Promise<number> {
    const ids = await notes.remove(scope, which, options, limit);
    await eraseResponses(scope, [...of, ...ids], options.session as ClientSession);
    return ids.length;
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
    deleteMostNotes: (scope: WriteScope, owner: NoteOwner): Promise<void> =>
      takeSteps(
        scope,
        (limit) => notes.countOf(scope, owner, limit),
        (options) => deleteNotes(scope, owner, options, { limit: step }),
      ),
    detachMostSessions: (scope: WriteScope, contactId: UUID): Promise<void> =>
      takeSteps(
        scope,
        (limit) => sessions.countOfClient(scope, contactId, limit),
        (options) => sessions.detachClient(scope, contactId, options, step),
      ),
  };
}

/** Deletes one record and its dependents. Returns false if there is no such record. */
type DeleteById = (scope: WriteScope, kind: DeletedName["kind"], id: UUID) => Promise<boolean>;

function createDeleteById(client: MongoClient, stores: RecordStores, eraseResponses: EraseResponses): DeleteById {
  const { contacts, sessions, transcripts } = stores;
  const atomically: Atomically = (scope, work) => commit(client, scope, undefined, work, { atomic: true });
  const { deleteNotes, deleteMostNotes, detachMostSessions } = createOwnedDeletion(stores, eraseResponses, atomically);

  async function deleteContact(scope: WriteScope, id: UUID): Promise<boolean> {
    const owner = { parent_id: id, kind: "contact" } as const;
    await detachMostSessions(scope, id);
    await deleteMostNotes(scope, owner);
    return atomically(scope, async (options) => {
      if (!(await contacts.remove(scope, id, options))) return false;
      await deleteNotes(scope, owner, options, { of: [id] });
      await sessions.detachClient(scope, id, options);
      return true;
    });
  }

  async function deleteSession(scope: WriteScope, id: UUID): Promise<boolean> {
    const owner = { parent_id: id, kind: "session" } as const;
    await deleteMostNotes(scope, owner);
    return atomically(scope, async (options) => {
      if (!(await sessions.remove(scope, id, options))) return false;
      await deleteNotes(scope, owner, options);
      return true;
    });
  }

  const deleteNote = async (scope: WriteScope, id: UUID): Promise<boolean> =>
    (await atomically(scope, (options) => deleteNotes(scope, { _id: id }, options))) === 1;

  return (scope, kind, id) => {
    if (kind === "contact") return deleteContact(scope, id);
    if (kind === "session") return deleteSession(scope, id);
    return kind === "transcript" ? transcripts.remove(scope, id) : deleteNote(scope, id);
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
