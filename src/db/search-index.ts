// The search index of a collection that a large import takes away and builds again: sorted at once it is made several
// times faster than key by key.
import type { Collection, Document, IndexDescription } from "mongodb";
import { MongoServerError } from "mongodb";
import { indexesOf } from "./indexes.ts";
import { unlessMissing } from "./mongo.ts";

/** The index `{account_id, g, rank: -1}` that every searchable collection has under this name. */
export const searchIndex = "search";
export const termsIndex = {
  key: { account_id: 1, g: 1, rank: -1 },
  name: searchIndex,
  storageEngine: { wiredTiger: { configString: "block_compressor=zstd" } },
} as const;
/** The index `{account_id, rank: -1}`. */
export const listIndex = "list";

/** One index, which comes and goes. */
export interface SearchIndex {
  /** Whether it can be used: it is there, and not being built. */
  isBuilt(): Promise<boolean>;
  drop(): Promise<void>;
  /** Builds it unless it is there, and resolves when it can be used. Several builds at once are one. */
  build(): Promise<void>;
}

/** The index of this description. */
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
      await collection.dropIndex(description.name).catch(unlessMissing);
    },
    async build() {
      await collection.createIndexes([description]);
    },
  };
}

/**
 * Whether a command may have failed because the index in its hint is missing, or was dropped while it ran. Other bad
 * values have the same code; those commands fail again without the index.
 */
export function isWithoutIndex(error: unknown): boolean {
  return error instanceof MongoServerError && (error.codeName === "QueryPlanKilled" || error.codeName === "BadValue");
}
