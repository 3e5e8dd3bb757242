// Every read of an account's records goes through here: an aggregation, with the proof of its credential in the same
// command.
import type { Document } from "mongodb";
import { collections } from "./collections.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { fail } from "../errors.ts";
import type { Scope, UnprovenKey } from "../guards/scope.ts";
import type { AggregateOptions, ReadCollection } from "./aggregate.ts";
import { aggregate } from "./aggregate.ts";

/**
 * Runs the aggregation and returns its rows. Where the scope's API key is not proven yet, the same command looks the
 * key up, and the read fails with INVALID_KEY when it is no longer active, and with ACCOUNT_SUSPENDED while its account
 * is suspended: both are in force on the next request of every instance, whatever a cache holds, at the price of one
 * look-up by `_id` and of no command.
 */
export async function read<T extends Document>(
  collection: ReadCollection,
  scope: Scope,
  pipeline: readonly Document[],
  options: Omit<AggregateOptions, "deadline"> = {},
): Promise<T[]> {
  const key = scope.unproven === undefined || scope.unproven.proven ? undefined : scope.unproven;
  const stages = key === undefined ? [...pipeline] : [...pipeline, keyProof(key)];
  const rows = await aggregate<T>(collection, stages, { ...options, deadline: scope.deadline });
  if (key === undefined) return rows;
  const found = rows.at(-1);
  if (found?.["active_key"] !== true) fail(Reason.INVALID_KEY);
  if (found["suspended"] === true) fail(Reason.ACCOUNT_SUSPENDED);
  key.proven = true;
  rows.pop();
  return rows;
}

/**
 * Appends one row `{active_key: true}`, with `suspended` where the account is, to the rows of a pipeline when the key
 * is active.
 */
function keyProof(key: UnprovenKey): Document {
  return {
    $unionWith: {
      coll: collections.apiKeys,
      pipeline: [
        { $match: { _id: key.hash, active: true } },
        { $project: { _id: 0, active_key: "$active", suspended: 1 } },
      ],
    },
  };
}
