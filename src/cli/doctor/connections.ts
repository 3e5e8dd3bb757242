// Compares the connections that MongoDB accepts with those that instances open.
import type { Document } from "mongodb";
import { overheadConnections } from "../../db/mongo.ts";
import type { Verdict } from "./check.ts";
import { ok, warning } from "./check.ts";

/** The minimum number of instances that must fit: two, and one that replaces another. */
const fewest = 3;

/**
 * Returns the verdict on a reply to `serverStatus`. `maxPool` is the limit of an instance's connections for requests; 0
 * means no limit.
 */
export function compareConnections({ connections }: Document, maxPool: number): Verdict {
  const { current, available } = connections as { readonly current: number; readonly available: number };
  const limit = current + available;
  if (maxPool === 0)
    return warning(
      "maxPoolSize=0 in MONGODB_URI lets an instance open any number of connections to MongoDB.",
      "Set MONGODB_MAX_POOL.",
    );
  const each = maxPool + overheadConnections;
  const fits = Math.floor(limit / each);
  const advice =
    "Set a smaller MONGODB_MAX_POOL, or raise maxIncomingConnections of mongod and its limit of open files.";
  if (fits < fewest)
    return warning(
      `MongoDB accepts ${limit} connections, and an instance opens up to ${each}. That is enough for ${fits} instances.`,
      advice,
    );
  if (available < each)
    return warning(
      `Of its ${limit} connections, MongoDB has ${available} left. One more instance opens up to ${each}.`,
      advice,
    );
  return ok(`MongoDB accepts ${limit} connections. An instance opens up to ${each}, so up to ${fits} instances fit.`);
}
