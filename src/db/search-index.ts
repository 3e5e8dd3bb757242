// The indexes of searches. A large import drops and rebuilds that on the search terms: sorting all keys at once is
// several times faster than adding them one by one.
import { MongoServerError } from "mongodb";
import { termsField } from "./search-fields.ts";

/** The name of the index on the search terms in every searchable collection. */
export const searchIndex = "search";
export const termsIndex = {
  key: { account_id: 1, [termsField]: 1, rank: -1 },
  name: searchIndex,
  storageEngine: { wiredTiger: { configString: "block_compressor=zstd" } },
} as const;
/** The name of the index `{account_id, rank: -1}`. */
export const listIndex = "list";

/**
 * Whether a command may have failed because the index in its hint is missing, or was dropped meanwhile. Other bad
 * values have the same code; those commands also fail without the index.
 */
export function isWithoutIndex(error: unknown): boolean {
  return error instanceof MongoServerError && (error.codeName === "QueryPlanKilled" || error.codeName === "BadValue");
}
