// Contents of a backup: for each collection, the order in which its documents are read, or the reason for leaving it
// out.
import { collections } from "../db/collections.ts";
import { recordsIndex } from "../db/mongo.ts";
import type { AnyContents } from "./contents.ts";
import {
  accountContents,
  apiKeyContents,
  auditContents,
  endedContents,
  importContents,
  switchChangeContents,
} from "./contents.ts";
import { contactContents, noteContents, sessionContents, transcriptContents } from "./record-contents.ts";

/** How a backup treats a collection. */
export type BackupRule =
  | {
      readonly kept: "account" | "service";
      /** What every document must be, so that no read fails after a restore. */
      readonly contents: AnyContents;
      /** The sort fields and index for reading in pages. Without them, the collection is read at once. */
      readonly pages?: { readonly by: readonly string[]; readonly hint: string; readonly size: number };
      /** The sort order if the collection is read at once. */
      readonly sort?: Readonly<Record<string, 1>>;
    }
  | { readonly leftOut: string };

function byId(size: number) {
  return { by: ["_id"], hint: recordsIndex.name, size } as const;
}

/**
 * The rules of all collections, in reading order. Imports come before their records, so the backup contains every
 * record that an import counts as written. Keys, the active one last, and the account come at the end: a restored
 * account is complete when it becomes usable.
 */
export const backupRules: Readonly<Record<(typeof collections)[keyof typeof collections], BackupRule>> = {
  [collections.imports]: { kept: "account", contents: importContents, sort: { _id: 1 } },
  [collections.contacts]: { kept: "account", contents: contactContents, pages: byId(100) },
  [collections.sessions]: { kept: "account", contents: sessionContents, pages: byId(500) },
  [collections.transcripts]: { kept: "account", contents: transcriptContents, pages: byId(10) },
  [collections.notes]: { kept: "account", contents: noteContents, pages: byId(200) },
  [collections.auditLog]: {
    kept: "account",
    contents: auditContents,
    pages: { by: ["created_at", "_id"], hint: "list", size: 500 },
  },
  [collections.apiKeys]: { kept: "account", contents: apiKeyContents },
  [collections.accounts]: { kept: "account", contents: accountContents },
  [collections.endedSessions]: {
    kept: "service",
    contents: endedContents,
    pages: { by: ["_id"], hint: "_id_", size: 500 },
  },
  [collections.switchChanges]: {
    kept: "service",
    contents: switchChangeContents,
    pages: { by: ["_id"], hint: "_id_", size: 500 },
  },
  [collections.claims]: { leftOut: "Idempotency keys. They expire after 24 hours." },
  [collections.dashboardSessions]: { leftOut: "Dashboard sessions. Users sign in again." },
  [collections.erasures]: { leftOut: "Deleted accounts, which are in no backup." },
  [collections.logoutTokens]: { leftOut: "Used logout tokens. They expire within minutes." },
  [collections.requestCounts]: { leftOut: "Counts and a list of requests, which start again." },
  [collections.restores]: { leftOut: "Which accounts were restored in this database." },
  [collections.switches]: { leftOut: "The switches, which are those of the database that is restored to." },
};

/** Returns the rules of the collections in backups of an account or of the service, in reading order. */
export function rulesFor(kept: "account" | "service") {
  return Object.entries(backupRules).flatMap(([collection, rule]) =>
    "kept" in rule && rule.kept === kept ? [{ collection, ...rule }] : [],
  );
}

/** Returns the field with the account id in a collection's documents. */
export function ownerField(collection: string): "_id" | "account_id" {
  return collection === collections.accounts ? "_id" : "account_id";
}
