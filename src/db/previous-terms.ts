// Search terms of the previous release: whether a collection may still have some, by an index that holds only those.
import type { MongoClient } from "mongodb";
import { beforeThisRelease, TEXT_MARK } from "../search/terms.ts";
import { findFirst } from "./aggregate.ts";
import type { Background, OnTrouble } from "./run-periodically.ts";
import { runPeriodically } from "./run-periodically.ts";
import { textField } from "./search-fields.ts";
import { isWithoutIndex } from "./search-index.ts";

/**
 * The index of the documents with terms of the previous release. It is empty once `records migrate` has rebuilt them,
 * and costs other documents nothing.
 */
export const previousTermsIndex = {
  key: { rank: 1 },
  name: "previous_terms",
  partialFilterExpression: { [textField]: { $lt: TEXT_MARK } },
} as const;

/** The filter of that index. */
export const hasPreviousTerms = { [textField]: beforeThisRelease } as const;

/** What an instance knows of the terms of the previous release. */
export interface PreviousTerms {
  /** Returns a function that returns whether the collection may have some: true until a check has found none. */
  watch(collection: string): () => boolean;
  /** Looks for some in the watched collections, and returns the names of those that have some. */
  check(): Promise<readonly string[]>;
  /** Checks from now on, because an instance of the previous release or a restore can add some. */
  follow(onTrouble: OnTrouble): Background;
}

const checkEveryMs = 10_000;
const known = new WeakMap<MongoClient, PreviousTerms>();

/** Returns the state of a client, which all stores share. */
export function previousTermsOf(client: MongoClient): PreviousTerms {
  const found = known.get(client) ?? createPreviousTerms(client);
  known.set(client, found);
  return found;
}

function createPreviousTerms(client: MongoClient): PreviousTerms {
  const watched = new Map<string, boolean>();
  const check = async (): Promise<readonly string[]> => {
    for (const name of watched.keys()) watched.set(name, await hasSome(client, name));
    return [...watched].flatMap(([name, has]) => (has ? [name] : []));
  };
  return {
    watch(collection) {
      watched.set(collection, watched.get(collection) ?? true);
      return () => watched.get(collection) ?? true;
    },
    check,
    follow: (onTrouble) =>
      runPeriodically(
        checkEveryMs,
        async () => void (await check()),
        (error) => onTrouble("the search terms of the previous release cannot be looked for", error),
      ),
  };
}

async function hasSome(client: MongoClient, name: string): Promise<boolean> {
  const options = { projection: { _id: 1 }, hint: previousTermsIndex.name, comment: "watch", deadline: undefined };
  try {
    return (await findFirst(client.db().collection(name), hasPreviousTerms, options)) !== undefined;
  } catch (error) {
    if (isWithoutIndex(error)) return true;
    throw error;
  }
}
