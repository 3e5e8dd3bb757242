// Reads of an account's records: an aggregation that also proves the request's credential.
import type { Document } from "mongodb";
import type { Scope } from "../call/scope.ts";
import type { ReadOptions, ReadCollection } from "./aggregate.ts";
import { aggregate } from "./aggregate.ts";

/**
 * Runs an aggregation and returns its rows. If the scope's credential is unproven, the same command looks it up. A
 * revocation is therefore in force on the next request of every instance, regardless of caches, for the price of an
 * index look-up and no extra command. Fails as the proof does.
 */
export async function read<T extends Document>(
  collection: ReadCollection,
  scope: Scope,
  pipeline: readonly Document[],
  options: Omit<ReadOptions, "deadline"> = {},
): Promise<T[]> {
  const { unproven, deadline } = scope;
  if (unproven === undefined || unproven.proven) return aggregate<T>(collection, pipeline, { ...options, deadline });
  const rows = await aggregate<T>(collection, [...pipeline, ...unproven.proof.stages], { ...options, deadline });
  const proofs: Document[] = [];
  for (let last = rows.at(-1); last !== undefined && unproven.proof.isRow(last); last = rows.at(-1)) {
    proofs.push(last);
    rows.pop();
  }
  unproven.proof.require(proofs);
  unproven.setProven();
  return rows;
}
