// Shard placement of each collection: split by account, or whole on the database's primary shard.
import { collections } from "./collections.ts";

/** Where the documents of a collection are. */
export type Placement =
  | {
      /** The path of the account in the documents, which is the shard key. */
      readonly shardKey: string;
    }
  | {
      /** Why the collection is not split. */
      readonly whole: string;
    };

/** A split collection is large, and every command on it names one account. A whole one is small, or has no account. */
export const placements: Readonly<Record<(typeof collections)[keyof typeof collections], Placement>> = {
  [collections.contacts]: { shardKey: "account_id" },
  [collections.sessions]: { shardKey: "account_id" },
  [collections.transcripts]: { shardKey: "account_id" },
  [collections.notes]: { shardKey: "account_id" },
  [collections.claims]: { shardKey: "_id.account_id" },
  [collections.accounts]: { whole: "Emails and identities are unique over all accounts." },
  [collections.apiKeys]: { whole: "A key is found by its hash, before its account is known." },
  [collections.auditLog]: { whole: "Some entries have no account, and old ones expire." },
  [collections.dashboardSessions]: { whole: "They are found by cookie and by user." },
  [collections.endedSessions]: { whole: "They belong to users, not accounts." },
  [collections.erasures]: { whole: "There is one small document for each deleted account." },
  [collections.imports]: { whole: "There is one small document for each import." },
  [collections.logoutTokens]: { whole: "They belong to the identity provider." },
  [collections.requestCounts]: { whole: "One command writes the counts of many accounts." },
  [collections.restores]: { whole: "There is one small document for each restored account." },
  [collections.switches]: { whole: "There are two, for all accounts." },
  [collections.switchChanges]: { whole: "They concern all accounts." },
};
