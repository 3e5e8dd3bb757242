// Deletes records for good, with what belongs to them.
import type { Document, MongoClient, UUID } from "mongodb";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import type { ContactDocument } from "../contacts/document.ts";
import { contactsCollection } from "../contacts/store.ts";
import { findAll, findFirst } from "../db/aggregate.ts";
import { uuid } from "../db/mongo.ts";
import type { WriteOptions } from "../db/write.ts";
import { commit } from "../db/write.ts";
import { Failure } from "../errors.ts";
import type { WriteScope } from "../guards/scope.ts";
import type { NoteDocument } from "../notes/store.ts";
import { notesCollection } from "../notes/store.ts";
import type { SessionDocument } from "../sessions/document.ts";
import { sessionsCollection } from "../sessions/store.ts";
import type { SessionStore } from "../sessions/store.ts";
import { transcriptsCollection } from "../sessions/transcripts.ts";
import type { KnownRecord, Outcome } from "./batch.ts";
import { withExternalId } from "./batch.ts";
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

/** Deletes records of one account at a time. */
export interface Deletion {
  /** An item fails with NOT_FOUND when the account has no such record. */
  delete(scope: WriteScope, names: readonly DeletedName[]): Promise<Outcome<KnownRecord>[]>;
}

/** How many records are deleted at the same time. */
const width = 8;
/** What belongs to a record goes in steps of so many, so that no transaction grows with the account. */
const step = 500;

/** Over the collections of a database. */
export function createDeletion(client: MongoClient, detachClient: SessionStore["detachClient"]): Deletion {
  const db = client.db();
  const contacts = db.collection<ContactDocument>(contactsCollection);
  const sessions = db.collection<SessionDocument>(sessionsCollection);
  const notes = db.collection<NoteDocument>(notesCollection);
  const transcripts = db.collection<KnownRecord>(transcriptsCollection);

  /** Deletes what hangs on a parent but for the last step, which the parent's own transaction takes. */
  async function thin(scope: WriteScope, filter: Document): Promise<void> {
    for (;;) {
      const found = await findAll<KnownRecord>(notes, filter, { projection: { _id: 1 }, limit: step + 1 });
      if (found.length <= step) return;
      await commit(client, scope, undefined, (options, fence) => notes.deleteMany({ ...filter, ...fence, _id: { $in: found.map(({ _id }) => _id) } }, options));
    }
  }

  async function deleteContact(scope: WriteScope, id: UUID): Promise<boolean> {
    const notesOf = { account_id: scope.accountId, parent_id: id, kind: "contact" as const };
    await thin(scope, notesOf);
    return commit(client, scope, undefined, async (options) => {
      const { deletedCount } = await contacts.deleteOne({ _id: id, account_id: scope.accountId }, options);
      if (deletedCount === 0) return false;
      await notes.deleteMany(notesOf, options);
      await detachClient(scope, id, options);
      return true;
    }, { atomic: true });
  }

  async function deleteSession(scope: WriteScope, id: UUID): Promise<boolean> {
    const notesOf = { account_id: scope.accountId, parent_id: id, kind: "session" as const };
    await thin(scope, notesOf);
    return commit(client, scope, undefined, async (options) => {
      const { deletedCount } = await sessions.deleteOne({ _id: id, account_id: scope.accountId }, options);
      if (deletedCount === 0) return false;
      await notes.deleteMany(notesOf, options);
      await transcripts.deleteOne({ _id: id, account_id: scope.accountId }, options);
      return true;
    }, { atomic: true });
  }

  async function deleteAlone(scope: WriteScope, kind: DeletedName["kind"], id: UUID): Promise<boolean> {
    const filter = { _id: id, account_id: scope.accountId };
    const work = (options: WriteOptions) => (kind === "transcript" ? transcripts : notes).deleteOne(filter as never, options);
    return (await commit(client, scope, undefined, work)).deletedCount === 1;
  }

  /** The id of the record that an external id names. */
  async function idOf(scope: WriteScope, { kind, id, externalId }: DeletedName): Promise<UUID | undefined> {
    if (id !== undefined) return uuid(id);
    const filter = { account_id: scope.accountId, external_id: withExternalId([externalId ?? ""]) };
    const options = { projection: { _id: 1 } };
    if (kind === "contact") return (await findFirst<KnownRecord>(contacts, filter, options))?._id;
    if (kind === "session" || kind === "transcript") return (await findFirst<KnownRecord>(sessions, filter, options))?._id;
    return (await findFirst<KnownRecord>(notes, { ...filter, kind: kind === "session_note" ? "session" : "contact" }, options))?._id;
  }

  async function deleteOne(scope: WriteScope, name: DeletedName): Promise<Outcome<KnownRecord>> {
    const id = await idOf(scope, name);
    if (id === undefined) return { failure: new Failure(Reason.NOT_FOUND) };
    const deleted = await (name.kind === "contact" ? deleteContact(scope, id) : name.kind === "session" ? deleteSession(scope, id) : deleteAlone(scope, name.kind, id));
    return deleted ? { id } : { failure: new Failure(Reason.NOT_FOUND) };
  }

  return {
    async delete(scope, names) {
      const outcomes = new Map<DeletedName, Outcome<KnownRecord>>();
      // What belongs to another first: a record that is named itself is not gone by the time its turn comes.
      for (const kinds of [["note", "session_note", "contact_note", "transcript"], ["session"], ["contact"]] as const) {
        const due = names.filter(({ kind }) => kinds.some((one) => one === kind));
        const deleted = await inTurn(due, width, (name) => deleteOne(scope, name));
        for (const [at, name] of due.entries()) outcomes.set(name, deleted[at] as Outcome<KnownRecord>);
      }
      return names.map((name) => outcomes.get(name) as Outcome<KnownRecord>);
    },
  };
}
