// Store of the progress from which interrupted imports resume.
import type { Db, Filter, UUID } from "mongodb";
import { Binary } from "mongodb";
import { collections } from "../db/collections.ts";
import { countUpTo, findFirst } from "../db/aggregate.ts";
import type { CollectionSpec } from "../db/mongo.ts";
import { upsertFenced } from "../db/insert.ts";
import { duplicateIndex } from "../db/mongo.ts";
import type { Change } from "../db/named.ts";
import { databaseNow } from "../db/primary.ts";
import { commit } from "../db/write.ts";
import type { WriteScope } from "../call/scope.ts";
import type { RecordKindName } from "./record-kinds.ts";

/** The progress of an import. */
export interface ImportProgress {
  /** The number of settled records, which all come before this position. */
  readonly position: number;
  readonly written: Readonly<Record<RecordKindName, number>>;
  readonly rejected: number;
  /** The numbers of contacts that were created, updated and left unchanged. */
  readonly contactChanges: Readonly<Record<Change, number>>;
  /** The rejections that the client has not acknowledged, as `rejections.ts` encodes them. */
  readonly unacknowledged?: Uint8Array | undefined;
  /** Whether the client has sent everything. */
  readonly finished: boolean;
}

const nothing: ImportProgress = {
  position: 0,
  written: { contacts: 0, sessions: 0, transcripts: 0, session_notes: 0, contact_notes: 0 },
  rejected: 0,
  contactChanges: { created: 0, updated: 0, unchanged: 0 },
  finished: false,
};

/** The stored progress of an import. */
export interface ImportDocument extends Omit<ImportProgress, "contactChanges" | "unacknowledged" | "finished"> {
  _id: { readonly account_id: UUID; readonly import_id: string };
  account_id: UUID;
  /** Missing if an instance of the previous release wrote last. */
  contact_changes?: ImportProgress["contactChanges"];
  /** Missing if all are acknowledged. An instance of the previous release neither repeats nor keeps them. */
  unacknowledged?: Binary;
  /** Missing if the import is not finished, or was finished by an instance of the previous release. */
  finished?: boolean;
  /** By the database's clock, which all instances share. */
  changed_at: Date;
}

/** The imports of all accounts. Each method works within one account unless stated otherwise. */
export interface ProgressStore {
  /** Returns the progress of the import with this id, or that of a new import. */
  read(scope: WriteScope, importId: string): Promise<ImportProgress>;
  /** Forgets the progress of the import with this id, and returns that of a new import. */
  restart(scope: WriteScope, importId: string): Promise<ImportProgress>;
  write(scope: WriteScope, importId: string, progress: ImportProgress): Promise<void>;
  /** Whether any import of any account stored progress within this time. */
  isAnyLive(withinMs: number): Promise<boolean>;
}

/** How long an import can resume. During this time, the same file is not imported twice by mistake. */
const keptSeconds = 90 * 24 * 3_600;

export const importCollection: CollectionSpec = {
  collection: collections.imports,
  erasure: { key: "_id" },
  indexes: [
    { key: { account_id: 1 }, name: "account" },
    { key: { changed_at: 1 }, name: "expiry", expireAfterSeconds: keptSeconds },
  ],
};

/** Returns the progress of a stored import. */
export function progressOf({
  contact_changes,
  unacknowledged,
  finished = false,
  ...found
}: ImportDocument): ImportProgress {
  return {
    ...found,
    contactChanges: contact_changes ?? nothing.contactChanges,
    unacknowledged: unacknowledged?.value(),
    finished,
  };
}

/** Creates the store of a database's imports. */
export function createProgressStore(db: Db): ProgressStore {
  const imports = db.collection<ImportDocument>(collections.imports);
  const idOf = (scope: WriteScope, importId: string) => ({ account_id: scope.accountId, import_id: importId });
  const put = async (
    scope: WriteScope,
    importId: string,
    { contactChanges: contact_changes, unacknowledged, position, written, rejected, finished }: ImportProgress,
    where: Filter<ImportDocument>,
  ): Promise<void> => {
    const document: ImportDocument = {
      _id: idOf(scope, importId),
      account_id: scope.accountId,
      position,
      written,
      rejected,
      contact_changes,
      changed_at: databaseNow(db.client),
      ...(unacknowledged === undefined ? {} : { unacknowledged: new Binary(unacknowledged) }),
      ...(finished ? { finished } : {}),
    };
    await commit(db.client, scope, undefined, (options, fence) =>
      upsertFenced(imports, { _id: document._id, ...where }, document, options, fence),
    );
  };
  return {
    async read(scope, importId) {
      const found = await findFirst<ImportDocument>(
        imports,
        { _id: idOf(scope, importId) },
        { deadline: scope.deadline },
      );
      return found === undefined ? nothing : progressOf(found);
    },
    async restart(scope, importId) {
      await put(scope, importId, nothing, {});
      return nothing;
    },
    async write(scope, importId, progress) {
      try {
        await put(scope, importId, progress, { position: { $lte: progress.position } });
      } catch (error) {
        // A disconnected stream may end after the one that replaced it has stored later progress. Its own is discarded.
        if (duplicateIndex(error) === undefined) throw error;
      }
    },
    async isAnyLive(withinMs) {
      return (
        (await countUpTo(
          imports,
          1,
          { changed_at: { $gt: new Date(databaseNow(db.client).getTime() - withinMs) } },
          { comment: "watch", deadline: undefined },
        )) > 0
      );
    },
  };
}
