// Deletes records for good, with what belongs to them.
import type { ClientSession, Collection, Document, MongoClient, UUID } from "mongodb";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { ContactDocument } from "../contacts/document.ts";
import { contactsCollection } from "../contacts/store.ts";
import { findAll } from "../db/aggregate.ts";
import { uuid } from "../db/mongo.ts";
import type { WriteOptions } from "../db/write.ts";
import { commit } from "../db/write.ts";
import { Failure } from "../errors.ts";
import type { EraseAnswers } from "../guards/erased-answers.ts";
import type { WriteScope } from "../guards/scope.ts";
import type { NoteDocument } from "../notes/document.ts";
import { notesCollection } from "../notes/store.ts";
import type { SessionDocument } from "../sessions/document.ts";
import { sessionsCollection } from "../sessions/store.ts";
import type { SessionStore } from "../sessions/store.ts";
import { transcriptsCollection } from "../sessions/transcripts.ts";
import type { KnownRecord, Outcome } from "./batch.ts";
import { findNamed } from "./batch.ts";
import { inTurn } from "./in-turn.ts";

/** What can be deleted. */
export type DeletedKind = "contact" | "session" | "transcript" | "note" | "session_note" | "contact_note";

/** A record that is to be deleted, by one of its two names. */
export interface DeletedName {
  /** Undefined where it is none that is known. */
  readonly kind: DeletedKind | undefined;
  readonly id?: string;
  readonly externalId?: string;
}

/** A name and the id of its record; undefined where there is none. */
interface Meant {
  readonly name: DeletedName;
  readonly id: UUID | undefined;
}

/** Deletes records of one account at a time. */
export interface Deletion {
  /** An item fails with NOT_FOUND when the account has no such record. */
  delete(scope: WriteScope, names: readonly DeletedName[]): Promise<Outcome[]>;
}

/** How many records are deleted at the same time. */
const width = 8;
/** What belongs to a record goes in steps of so many, so that no transaction grows with the account. */
const step = 500;

/** Over the collections of a database. */
export function createDeletion(
  client: MongoClient,
  detachClient: SessionStore["detachClient"],
  eraseAnswers: EraseAnswers,
): Deletion {
  const db = client.db();
  const contacts = db.collection<ContactDocument>(contactsCollection);
  const sessions = db.collection<SessionDocument>(sessionsCollection);
  const notes = db.collection<NoteDocument>(notesCollection);
  const transcripts = db.collection<KnownRecord>(transcriptsCollection);

  /** Deletes notes, and erases the stored responses that show them or the records in `of`. */
  async function deleteNotes(
    scope: WriteScope,
    filter: Document,
    options: WriteOptions,
    of: readonly UUID[] = [],
  ): Promise<number> {
    const session = options.session as ClientSession;
    const found = await notes.find(filter, { projection: { _id: 1 }, ...options }).toArray();
    const ids = found.map(({ _id }) => _id);
    await eraseAnswers(scope, [...of, ...ids], session);
    if (ids.length > 0) await notes.deleteMany({ _id: { $in: ids }, account_id: scope.accountId }, options);
    return ids.length;
  }

  /** Deletes what hangs on a parent but for the last step, which the parent's own transaction takes. */
  async function thin(scope: WriteScope, filter: Document): Promise<void> {
    for (;;) {
      const found = await findAll<KnownRecord>(notes, filter, {
        projection: { _id: 1 },
        limit: step + 1,
        deadline: scope.deadline,
      });
      if (found.length <= step) return;
      const some = { ...filter, _id: { $in: found.map(({ _id }) => _id) } };
      await commit(client, scope, undefined, (options) => deleteNotes(scope, some, options), { atomic: true });
    }
  }

  async function deleteContact(scope: WriteScope, id: UUID): Promise<boolean> {
    const notesOf = { account_id: scope.accountId, parent_id: id, kind: "contact" };
    await thin(scope, notesOf);
    return commit(
      client,
      scope,
      undefined,
      async (options) => {
        const { deletedCount } = await contacts.deleteOne({ _id: id, account_id: scope.accountId }, options);
        if (deletedCount === 0) return false;
        await deleteNotes(scope, notesOf, options, [id]);
        await detachClient(scope, id, options);
        return true;
      },
      { atomic: true },
    );
  }

  async function deleteSession(scope: WriteScope, id: UUID): Promise<boolean> {
    const notesOf = { account_id: scope.accountId, parent_id: id, kind: "session" };
    await thin(scope, notesOf);
    return commit(
      client,
      scope,
      undefined,
      async (options) => {
        const { deletedCount } = await sessions.deleteOne({ _id: id, account_id: scope.accountId }, options);
        if (deletedCount === 0) return false;
        await deleteNotes(scope, notesOf, options);
        await transcripts.deleteOne({ _id: id, account_id: scope.accountId }, options);
        return true;
      },
      { atomic: true },
    );
  }

  async function deleteTranscript(scope: WriteScope, id: UUID): Promise<boolean> {
    const filter = { _id: id, account_id: scope.accountId };
    const { deletedCount } = await commit(client, scope, undefined, (options, fence) =>
      transcripts.deleteOne({ ...filter, ...fence } as never, options),
    );
    return deletedCount === 1;
  }

  async function deleteNote(scope: WriteScope, id: UUID): Promise<boolean> {
    const filter = { _id: id, account_id: scope.accountId };
    return (
      (await commit(client, scope, undefined, (options) => deleteNotes(scope, filter, options), { atomic: true })) === 1
    );
  }

  /** Resolves names to record ids, with one command for each kind. */
  async function meantBy(scope: WriteScope, names: readonly DeletedName[]): Promise<Meant[]> {
    const sources = [
      { kinds: ["contact"], collection: contacts, kind: undefined },
      { kinds: ["session", "transcript"], collection: sessions, kind: undefined },
      { kinds: ["session_note"], collection: notes, kind: "session" },
      { kinds: ["contact_note"], collection: notes, kind: "contact" },
    ];
    const ids = new Map(names.flatMap((name) => (name.id === undefined ? [] : [[name, uuid(name.id)] as const])));
    for (const { kinds, collection, kind } of sources) {
      const due = names.filter((name) => name.id === undefined && kinds.some((one) => one === name.kind));
      const options = { fields: {}, ...(kind === undefined ? {} : { kind }) };
      const found =
        due.length === 0
          ? undefined
          : await findNamed(collection as unknown as Collection<KnownRecord>, scope, due, options);
      for (const name of due) {
        const record = found?.get(name);
        if (record !== undefined) ids.set(name, record._id);
      }
    }
    return names.map((name) => ({ name, id: ids.get(name) }));
  }

  function deleteById(scope: WriteScope, kind: DeletedName["kind"], id: UUID): Promise<boolean> {
    if (kind === "contact") return deleteContact(scope, id);
    if (kind === "session") return deleteSession(scope, id);
    return kind === "transcript" ? deleteTranscript(scope, id) : deleteNote(scope, id);
  }

  async function deleteMeant(scope: WriteScope, { name, id }: Meant): Promise<Outcome> {
    const deleted = id !== undefined && (await deleteById(scope, name.kind, id));
    return deleted ? { id } : { failure: new Failure(Reason.NOT_FOUND) };
  }

  return {
    async delete(scope, names) {
      const outcomes = new Map<DeletedName, Outcome>();
      // What belongs to another first: a record that is named itself is not gone by the time its turn comes.
      for (const kinds of stages) {
        const due = names.filter(({ kind }) => kinds.some((one) => one === kind));
        const meant = await meantBy(scope, due);
        // Two names of one record run one after the other: only the first finds it.
        const namesOf = ({ id }: Meant): string[] => (id === undefined ? [] : [id.toHexString()]);
        const deleted = await inTurn(meant, { width, names: namesOf }, (one) => deleteMeant(scope, one));
        for (const [at, name] of due.entries()) outcomes.set(name, deleted[at] as Outcome);
      }
      return names.map((name) => outcomes.get(name) as Outcome);
    },
  };
}

const stages = [["note", "session_note", "contact_note", "transcript"], ["session"], ["contact"]] as const;
