// Who may reach MongoDB, and by what: the owner of each collection, and the files that go past `src/db`.
import type { collections } from "../../../src/db/collections.ts";

/** Who writes what. `src/db` has the mechanisms of transactions and erasure, which are given their collections. */
export const owners: Readonly<Record<keyof typeof collections, readonly string[]>> = {
  accounts: ["src/accounts/"],
  apiKeys: ["src/api-keys/"],
  auditLog: ["src/audit/"],
  claims: ["src/db/", "src/guards/"],
  contacts: ["src/contacts/"],
  dashboardSessions: ["src/sign-in/"],
  endedSessions: ["src/sign-in/"],
  erasures: ["src/accounts/"],
  imports: ["src/ingest/"],
  logoutTokens: ["src/sign-in/"],
  notes: ["src/notes/"],
  requestCounts: ["src/accounts/"],
  restores: ["src/backup/"],
  sessions: ["src/sessions/"],
  switchChanges: ["src/switches/"],
  switches: ["src/switches/"],
  transcripts: ["src/sessions/"],
};

/** What a file may use of the driver besides the writes of its room, and why. */
export interface Reach {
  readonly members: readonly string[];
  readonly why: string;
}

/** Every use is one of these: a use that is gone has to go from here, too. */
export const reach: Readonly<Record<string, Reach>> = {
  "src/db/abandoned.ts": { members: ["Db.aggregate", "Db.command"], why: "lists and ends abandoned transactions" },
  "src/db/aggregate.ts": {
    members: ["Collection.aggregate", "Collection.find", "Db.command"],
    why: "the one way to read, under the lease",
  },
  "src/db/connection-check.ts": { members: ["Db.command"], why: "opens a connection by a ping, which reads nothing" },
  "src/db/indexes.ts": {
    members: [
      ...["Collection.createIndexes", "Collection.dropIndex", "Collection.estimatedDocumentCount", "Db.command"],
    ],
    why: "builds and lists the indexes",
  },
  "src/db/insert.ts": { members: ["Db.command"], why: "one command proves a credential and inserts" },
  "src/db/mongo.ts": { members: ["Db.command"], why: "reads at the start what kind of server it is" },
  "src/db/primary.ts": { members: ["Db.command"], why: "proves the primary, and rests on no proof itself" },
  "src/db/search-index.ts": {
    members: ["Collection.createIndexes", "Collection.dropIndex"],
    why: "takes an index away and builds it again",
  },
  "src/db/write.ts": {
    members: [
      ...["ClientSession.abortTransaction", "ClientSession.commitTransaction", "ClientSession.startTransaction"],
      ...["Db.command", "MongoClient.withSession"],
    ],
    why: "the one way to write: begins, commits and ends what is written",
  },
  "src/ingest/bulk.ts": {
    members: ["Collection.estimatedDocumentCount"],
    why: "a rough number of all notes, from the metadata: nothing is read that a lease would have to prove",
  },
  "src/embedded/data-version.ts": { members: ["Db.command"], why: "raises the data to the version of its mongod" },
  "src/embedded/mongod-user.ts": { members: ["Db.command"], why: "creates the user that the service connects as" },
  "src/embedded/replica-set.ts": {
    members: ["Collection.findOne", "Db.command"],
    why: "begins the replica set of the embedded mongod",
  },
  "src/cli/migrate-actions.ts": { members: ["Db.aggregate"], why: "shows the progress of an index that is built" },
  "src/cli/doctor/mongodb.ts": { members: ["Db.command"], why: "reads the state of a server" },
  "src/cli/doctor/sharding.ts": { members: ["Db.command"], why: "reads how the collections of a cluster are split" },
};

/** Files that open a collection by a name that they are given, and why. */
export const openers: Readonly<Record<string, string>> = {
  "src/backup/claims.ts": "reads the ids of the collections that a backup holds",
  "src/backup/read.ts": "reads every collection that has an account's records",
  "src/backup/restore.ts": "writes the collections that a backup holds, and rejects any other name",
  "src/db/aggregate.ts": "opens again what it was given",
  "src/db/indexes.ts": "works on every collection of the stores' lists",
  "src/db/previous-terms.ts": "looks into every collection that a store names",
  "src/db/rebuild-terms.ts": "rewrites the collections with search terms, by the rules of their stores",
  "src/db/sweep.ts": "deletes from every collection of the stores' lists",
  "src/embedded/replica-set.ts": "reads MongoDB's own collection",
  "src/ingest/export.ts": "reads the collections in the table of the file",
};

/** Texts that are a collection's name and mean something else, by the path that begins so. */
export const otherTexts: readonly { readonly path: string; readonly texts: readonly string[]; readonly why: string }[] =
  [
    { path: "src/contacts/document.ts", texts: ["notes"], why: "a field of a contact" },
    { path: "src/contacts/hydration.ts", texts: ["sessions"], why: "the field that a stage adds" },
    { path: "src/ingest/record-kinds.ts", texts: ["contacts", "sessions", "transcripts"], why: "the kinds of records" },
    { path: "src/ingest/", texts: ["contacts", "sessions"], why: "the kinds of an import" },
    { path: "src/app/services.ts", texts: ["audit_log"], why: "a name in the log" },
    { path: "src/cli/backup/verify.ts", texts: ["ended_sessions"], why: "the name of a collection in a backup" },
    { path: "src/mcp/", texts: ["notes"], why: "a field of a contact" },
    {
      path: "src/cli/",
      texts: ["accounts", "contacts", "notes", "sessions", "switches"],
      why: "words of the command line",
    },
  ];

/** Files that take more of the package `mongodb` than types and ids, and why. */
export const drivers: Readonly<Record<string, string>> = {
  "src/db/": "connects, reads and writes",
  "src/embedded/": "begins the replica set of the embedded mongod",
  "src/cli/": "connects by itself where no service runs, and reads backups",
  "src/backup/": "reads and writes documents as they are stored",
  "src/switches/store.ts": "makes the ids of the changes",
};
