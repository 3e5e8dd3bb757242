// The search index of a collection, which a large import drops and rebuilds: sorting all keys at once is several times
// faster than adding them one by one.
import type { Collection, Document, IndexDescription } from "mongodb";
import { MongoServerError } from "mongodb";
import { indexesOf } from "./indexes.ts";
import { ignoreMissingIndex } from "./mongo.ts";
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

/** An index that can be dropped and rebuilt. */
export interface SearchIndex {
  /** Whether the index exists and its build is complete. */
  isBuilt(): Promise<boolean>;
  drop(): Promise<void>;
  /** Builds the index if it does not exist, and resolves when it can be used. Concurrent builds become one. */
  build(): Promise<void>;
}

/** Creates the handle of the index with this description. */
export function createSearchIndex(
  collection: Collection<Document>,
  description: IndexDescription & { readonly name: string },
): SearchIndex {
  return {
    async isBuilt() {
      const present = await indexesOf(collection.db, collection.collectionName);
      return present.some(({ name, building }) => name === description.name && !building);
    },
    async drop() {
      await collection.dropIndex(description.name).catch(ignoreMissingIndex);
    },
    async build() {
      await collection.createIndexes([description]);
    },
  };
}

/**
 * Whether a command may have failed because the index in its hint is missing, or was dropped meanwhile. Other bad
 * values have the same code; those commands also fail without the index.
 */
export function isWithoutIndex(error: unknown): boolean {
  return error instanceof MongoServerError && (error.codeName === "QueryPlanKilled" || error.codeName === "BadValue");
}
