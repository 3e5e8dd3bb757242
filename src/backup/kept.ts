// What a backup holds: for each collection, how its documents are read, or why they are left out.
import { collections } from "../db/collections.ts";
import { recordsIndex } from "../db/mongo.ts";

/** What becomes of a collection in a backup. */
export type Keeping =
  | {
      readonly kept: "account" | "service";
      /** The fields by which it is read in pages, with the index for it; without them, it is read at once. */
      readonly pages?: { readonly by: readonly string[]; readonly hint: string; readonly size: number };
      /** The order of what is read at once. */
      readonly sort?: Readonly<Record<string, 1>>;
    }
  | { readonly leftOut: string };

function byId(size: number) {
  return { by: ["_id"], hint: recordsIndex.name, size } as const;
}

/**
 * In the order in which they are read. The progress of an import comes before its records: what it counts as written is
 * then in the backup. The keys and the account come last, so that a restored account is whole when it can be used. The
 * active key is the last key.
 */
export const keepings: Readonly<Record<(typeof collections)[keyof typeof collections], Keeping>> = {
  [collections.imports]: { kept: "account", sort: { _id: 1 } },
  [collections.contacts]: { kept: "account", pages: byId(100) },
  [collections.sessions]: { kept: "account", pages: byId(500) },
  [collections.transcripts]: { kept: "account", pages: byId(10) },
  [collections.notes]: { kept: "account", pages: byId(200) },
  [collections.auditLog]: { kept: "account", pages: { by: ["created_at", "_id"], hint: "list", size: 500 } },
  [collections.apiKeys]: { kept: "account", sort: { active: 1, created_at: 1 } },
  [collections.accounts]: { kept: "account" },
  [collections.endedSessions]: { kept: "service", pages: { by: ["_id"], hint: "_id_", size: 500 } },
  [collections.switchChanges]: { kept: "service", pages: { by: ["_id"], hint: "_id_", size: 500 } },
  [collections.claims]: { leftOut: "Idempotency keys. They expire after 24 hours." },
  [collections.dashboardSessions]: { leftOut: "Dashboard sessions. Users sign in again." },
  [collections.erasures]: { leftOut: "Deleted accounts, which are in no backup." },
  [collections.logoutTokens]: { leftOut: "Used logout tokens. They expire within minutes." },
  [collections.restores]: { leftOut: "Which accounts were restored in this database." },
  [collections.switches]: { leftOut: "The switches, which are those of the database that is restored to." },
};

/** The collections of which a backup holds documents, in their order. */
export function keptOf(kept: "account" | "service") {
  return Object.entries(keepings).flatMap(([collection, keeping]) =>
    "kept" in keeping && keeping.kept === kept ? [{ collection, ...keeping }] : [],
  );
}

/** The field of a collection's documents that has the id of their account. */
export function ownerField(collection: string): "_id" | "account_id" {
  return collection === collections.accounts ? "_id" : "account_id";
}
