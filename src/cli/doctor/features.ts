// Checks by trying that a server is a MongoDB that the service can use, and not a database that imitates one.
import type { Document } from "mongodb";
import { MongoServerError } from "mongodb";
import { collections } from "../../db/collections.ts";
import { isUnavailable } from "../../db/mongo.ts";
import type { Verdict } from "./check.ts";
import { fault, note, ok } from "./check.ts";
import { reasonOf } from "./reason.ts";

/** How long each of the two commands may take, in milliseconds. A linearizable read waits for a majority. */
const waitMs = 2_500;

/**
 * Sends what the service needs and others lack: a linearizable read, and joins by pipelines. Writes nothing.
 * `onPrimary` sends a command to the primary of the service's database.
 */
export async function checkFeatures(onPrimary: (command: Document) => Promise<unknown>): Promise<Verdict> {
  const from = collections.switches;
  const joins = [
    { $limit: 1 },
    {
      $lookup: { from, let: { now: "$$NOW" }, pipeline: [{ $match: { $expr: { $lt: ["$at", "$$now"] } } }], as: "all" },
    },
    { $unionWith: { coll: from, pipeline: [{ $limit: 1 }] } },
  ];
  try {
    await onPrimary({ find: from, limit: 1, maxTimeMS: waitMs, readConcern: { level: "linearizable" } });
    await onPrimary({ aggregate: from, pipeline: joins, cursor: {}, maxTimeMS: waitMs });
    return ok("It supports linearizable reads, and joins by pipelines.");
  } catch (error) {
    if (!(error instanceof MongoServerError) || isUnavailable(error))
      return note(`Not tried: ${reasonOf(error)}.`, "See the other findings on MongoDB.");
    return fault(
      `The server lacks what the service needs: ${reasonOf(error)} (${error.codeName ?? error.code}).`,
      "Use MongoDB 6.0 or later. Databases that imitate it, such as Amazon DocumentDB, Azure Cosmos DB and FerretDB, do not work.",
    );
  }
}
