// Ends transactions that a killed instance left open: MongoDB would keep their locks for a minute and a half.
import type { MongoClient } from "mongodb";
import { appName, commandLimitMs, isAway } from "./mongo.ts";
import type { Background, OnTrouble } from "./run-periodically.ts";
import { runPeriodically } from "./run-periodically.ts";

/** Commands of a live transaction are only milliseconds apart. */
const abandonedAfterMs = 2_000;
const everyMs = 1_000;

/**
 * Ends abandoned transactions in the background until stopped. A live instance whose transaction is ended gets an error
 * that makes it start the transaction again.
 */
export function endAbandonedTransactions(client: MongoClient, onTrouble: OnTrouble): Background {
  const admin = client.db("admin");

  async function look(): Promise<void> {
    const pipeline = [
      // Any user may list and end its own sessions.
      { $currentOp: { allUsers: false, idleSessions: true } },
      {
        $match: { type: "idleSession", appName, "transaction.timeInactiveMicros": { $gte: abandonedAfterMs * 1_000 } },
      },
      { $project: { id: "$lsid.id" } },
    ];
    const found = await admin
      .aggregate<{ id: unknown }>(pipeline, {
        maxTimeMS: commandLimitMs,
        comment: "watch",
        readConcern: { level: "local" },
      })
      .toArray();
    if (found.length > 0) await admin.command({ killSessions: found.map(({ id }) => ({ id })), comment: "watch" });
  }

  return runPeriodically(everyMs, look, (error) => {
    if (!isAway(error)) onTrouble("transactions of killed instances cannot be aborted", error);
  });
}
