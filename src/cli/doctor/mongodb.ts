// Checks MongoDB: connection, version, transactions, members, majority, connections, rights, indexes, disk space.
// Writes nothing.
import type { Document } from "mongodb";
import { MongoClient, MongoServerError, MongoServerSelectionError } from "mongodb";
import { collections } from "../../db/collections.ts";
import { poolOptions, withDatabase, overheadConnections, isUnavailable } from "../../db/mongo.ts";
import { indexesFor } from "../../app/services.ts";
import { withTimeout } from "../../call/time-limit.ts";
import type { Finding, Verdict } from "./check.ts";
import { check, fault, note, ok, unchecked, warning } from "./check.ts";
import { compareIndexes } from "./indexes.ts";
import { reasonOf } from "./reason.ts";
import { shownUri } from "./redaction.ts";
import { compareRights, unread } from "./rights.ts";
import type { DoctorContext } from "./doctor-context.ts";
import { placements } from "../../db/sharding.ts";

const waitMs = 3_000;
/** The oldest major version that the service is tested with. */
const oldest = 6;
const lagMs = 10_000;
const fullFrom = 0.9;

export async function checkMongo({ config, mongodbUri, unusable, clocks }: DoctorContext): Promise<Finding[]> {
  const name = "mongodb.reachable";
  if (unusable("MONGODB_URI")) return unchecked(name, "Not checked, because MONGODB_URI is invalid.");
  if (mongodbUri === undefined)
    return unchecked(
      name,
      "Embedded, and not running.",
      "Start the service (npm start), or set MONGODB_URI to check your own.",
    );
  let client: MongoClient | undefined;
  let sharded = false;
  // A replica set without a primary still reports its state.
  const runCommand = (command: Document): Promise<Document> =>
    (client as MongoClient).db("admin").command(command, { readPreference: "primaryPreferred" });
  try {
    const reachable = await check(
      name,
      async () => {
        client = new MongoClient(withDatabase(mongodbUri), {
          appName: "records doctor",
          ...poolOptions(config.mongodbMaxPool),
          minPoolSize: 0,
          readPreference: "primaryPreferred",
          serverSelectionTimeoutMS: waitMs,
          connectTimeoutMS: 2_000,
          socketTimeoutMS: waitMs,
        });
        await client.connect();
        const sent = clocks.now();
        const { localTime, msg } = await runCommand({ hello: 1 });
        sharded = msg === "isdbgrid";
        clocks.read("clock.mongodb", "MongoDB's clock", (localTime as Date).getTime(), sent);
        // hello succeeds even without authentication, so an ordinary command follows.
        await runCommand({ connectionStatus: 1 });
        return ok(`${shownUri(mongodbUri)} responds; the database is ${client.db().databaseName}.`);
      },
      (error) => unreachable(error, mongodbUri),
    );
    if (client === undefined || reachable.status === "fault") return [reachable];
    const found = examine(client, config, runCommand);
    return [reachable, ...(await Promise.all(sharded ? [...found, checkSharding(client)] : found))];
  } finally {
    // Do not wait for connections that hang.
    if (client !== undefined) await withTimeout(500, client.close()).catch(() => undefined);
  }
}

/** Returns the checks of a MongoDB that can be reached. */
function examine(
  client: MongoClient,
  config: DoctorContext["config"],
  runCommand: (command: Document) => Promise<Document>,
): Promise<Finding>[] {
  const [db, specs] = [client.db(), indexesFor(config)];
  return [
    check("mongodb.version", async () => version(await runCommand({ buildInfo: 1 }))),
    check("mongodb.features", () => checkFeatures((command) => db.command(command, { readPreference: "primary" }))),
    check("mongodb.transactions", async () => transactions(await runCommand({ hello: 1 }))),
    check("mongodb.primary", async () => primary(await runCommand({ hello: 1 })), noPrimary),
    check("mongodb.members", async () => members(await runCommand({ replSetGetStatus: 1 })), noMembers),
    check(
      "mongodb.connections",
      async () => compareConnections(await runCommand({ serverStatus: 1 }), client.options.maxPoolSize),
      uncounted,
    ),
    check("mongodb.rights", async () =>
      compareRights(await runCommand({ connectionStatus: 1, showPrivileges: true }), db.databaseName, [
        ...new Set([...specs.map(({ collection }) => collection), collections.switches]),
      ]),
    ),
    check("mongodb.indexes", () => compareIndexes(db, specs), mayNot),
    check(
      "mongodb.disk",
      async () => disk(await db.command({ dbStats: 1 }, { readPreference: "primaryPreferred" })),
      mayNot,
    ),
  ];
}

function unreachable(error: unknown, uri: string): Verdict {
  const where = shownUri(uri);
  if (error instanceof MongoServerError && (error.code === 18 || error.code === 8000))
    return fault(
      `${where} rejects the user or the password.`,
      "Correct the user, the password (percent-encoded) or authSource in MONGODB_URI.",
    );
  if (!(error instanceof MongoServerSelectionError))
    return fault(
      `MongoDB cannot be reached at ${where}: ${reasonOf(error)}.`,
      "Make sure that mongod runs there, and correct MONGODB_URI.",
    );
  const servers = [...(error.reason?.servers.values() ?? [])];
  const each = servers.map(
    ({ address, error: why, type }) => `${address}: ${why == null ? `is ${type}` : reasonOf(why)}`,
  );
  if (servers.length === 0)
    return fault(
      `No server at ${where} is in the replica set that MONGODB_URI names.`,
      "Correct replicaSet in MONGODB_URI. To see the set's name, run rs.status().set.",
    );
  return fault(
    `MongoDB cannot be reached at ${where}: ${each.join("; ")}.`,
    "Make sure that mongod runs there, that the network allows the connection, and that MONGODB_URI is right. Until then, the service returns 503.",
  );
}

function version({ version: reported }: Document): Verdict {
  const running = String(reported);
  const major = Number.parseInt(running, 10);
  return major >= oldest
    ? ok(`MongoDB ${running}.`)
    : warning(
        `MongoDB ${running} is older than the versions that the service is tested with.`,
        `Upgrade to ${oldest}.0 or later.`,
      );
}

function transactions({ setName, msg }: Document): Verdict {
  if (setName !== undefined) return ok(`The replica set ${String(setName)} supports transactions.`);
  if (msg === "isdbgrid") return ok("A sharded cluster supports transactions.");
  return fault(
    "A single server does not support transactions, so the service does not start with it.",
    "Make it a replica set, if necessary of one member: start mongod with --replSet, then run rs.initiate().",
  );
}

/** The fields of a member's reply to hello. */
interface PrimaryReply {
  readonly isWritablePrimary?: boolean;
  readonly primary?: string;
  readonly lastWrite?: { readonly lastWriteDate?: Date; readonly majorityWriteDate?: Date };
  readonly msg?: string;
  readonly me?: string;
}

/**
 * Checks whether a majority keeps up without writing anything: it must acknowledge the last write soon after the
 * primary.
 */
function primary({ isWritablePrimary, primary: leader, lastWrite, msg, me }: PrimaryReply): Verdict {
  if (msg === "isdbgrid") return ok("A sharded cluster accepts writes at its router.");
  if (isWritablePrimary !== true && leader !== undefined)
    return fault(
      `MONGODB_URI names ${me ?? "a member"} alone, and the primary is ${leader}. The service does not start.`,
      "Remove directConnection from MONGODB_URI.",
    );
  if (isWritablePrimary !== true) return noPrimary();
  const behind = Number(lastWrite?.lastWriteDate) - Number(lastWrite?.majorityWriteDate);
  if (behind <= lagMs) return ok(`${me ?? "The primary"} accepts writes, and a majority acknowledges them.`);
  return fault(
    `A majority does not acknowledge writes: it is ${Math.round(behind / 1_000)} s behind the primary ${me ?? ""}.`,
    "Restore the members that are down or behind (mongodb.members). Every write waits for a majority.",
  );
}

function noPrimary(): Verdict {
  return fault(
    "The replica set has no primary. Writes fail, and the service does not start.",
    "Restore members until more than half of the voting members are up (rs.status()).",
  );
}

function members({ members: all, set: name }: Document): Verdict {
  const set = String(name);
  const known = all as {
    readonly name: string;
    readonly stateStr: string;
    readonly health: number;
    readonly optimeDate?: Date;
  }[];
  const newest = Math.max(...known.map(({ optimeDate }) => optimeDate?.getTime() ?? 0));
  const ill = known.flatMap(({ name, stateStr, health, optimeDate }) => {
    if (health !== 1 || !["PRIMARY", "SECONDARY", "ARBITER"].includes(stateStr))
      return [`${name} is ${health === 1 ? stateStr : "down"}`];
    const lag = stateStr === "SECONDARY" ? newest - (optimeDate?.getTime() ?? newest) : 0;
    return lag > lagMs ? [`${name} is ${Math.round(lag / 1_000)} s behind`] : [];
  });
  if (ill.length > 0)
    return warning(
      `Of the ${known.length} members of ${set}, ${ill.join(", ")}.`,
      "Check their logs and rs.status(). If another member fails, there may be no primary.",
    );
  return known.length === 1
    ? note(`${set} has one member. While it is down, the service is down.`, "For production, run three members.")
    : ok(`All ${known.length} members of ${set} are healthy.`);
}

const mayNotReadMembers = unread(
  note(
    "The user may not read the state of the members.",
    "To check the members, grant it clusterMonitor. The service itself does not need it.",
  ),
  "The state of the members cannot be read",
);

function noMembers(error: unknown): Verdict {
  const { codeName = "" } = error instanceof MongoServerError ? error : {};
  return /NoReplicationEnabled|CommandNotFound|NotYetInitialized/.test(codeName)
    ? note("There is no replica set with members to check.")
    : mayNotReadMembers(error);
}

const uncounted = unread(
  note(
    "The user may not read how many connections MongoDB accepts.",
    "To check the connections, grant it clusterMonitor. The service itself does not need it.",
  ),
  "The connections cannot be counted",
);

const mayNot = unread(
  fault("The user may not read the database.", "Grant it readWrite on the database."),
  "The database cannot be read",
);

function disk({ fsUsedSize, fsTotalSize }: Document): Verdict {
  const share = Number(fsUsedSize) / Number(fsTotalSize);
  if (!(share >= 0)) return note("MongoDB does not report how full the disk is.");
  const text = `The disk of MongoDB is ${Math.round(share * 100)} % full.`;
  return share < fullFrom ? ok(text) : warning(text, "Free some space: a full disk stops mongod.");
}

/** Compares the placements with the cluster's own list of sharded collections. */
function checkSharding(client: MongoClient): Promise<Finding> {
  const { databaseName } = client.db();
  return check(
    "mongodb.sharding",
    async () => {
      const names = Object.keys(placements).map((name) => `${databaseName}.${name}`);
      const { cursor } = await client.db("config").command({ find: "collections", filter: { _id: { $in: names } } });
      return compareSharding(databaseName, (cursor as { firstBatch: Document[] }).firstBatch);
    },
    unread(
      note(
        "The user may not see how the collections are sharded.",
        "Grant it clusterMonitor, so that the doctor can check them. The service itself does not need it.",
      ),
      "How the collections are sharded cannot be read",
      "Make sure that a mongos runs there.",
    ),
  );
}

/** Returns the verdict on the placements. `sharded` has the documents of `config.collections` for our collections. */
export function compareSharding(databaseName: string, sharded: readonly Document[]): Verdict {
  const keys = new Map(sharded.map(({ _id, key }) => [String(_id), Object.keys(key as Document).join(", ")]));
  const wrong = Object.entries(placements).flatMap(([name, placement]) => {
    const key = keys.get(`${databaseName}.${name}`);
    if ("whole" in placement) return key === undefined ? [] : [`${name} is sharded by ${key}`];
    if (key === undefined) return [`${name} is not sharded`];
    return key === placement.shardKey ? [] : [`${name} is sharded by ${key}, not by ${placement.shardKey}`];
  });
  if (wrong.length === 0) return ok("Each collection is sharded as the service needs it.");
  return fault(
    `The collections are not sharded as they should be: ${wrong.join("; ")}.`,
    "Run the commands that records shard --print prints. To change a wrong shard key, use reshardCollection or unshardCollection.",
  );
}

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

/** MongoDB's code for a command that took longer than its `maxTimeMS`. */
const maxTimeMsExpired = 50;
/** How long each of the two commands may take, in milliseconds. A linearizable read waits for a majority. */
const featureMs = 2_500;

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
    await onPrimary({ find: from, limit: 1, maxTimeMS: featureMs, readConcern: { level: "linearizable" } });
    await onPrimary({ aggregate: from, pipeline: joins, cursor: {}, maxTimeMS: featureMs });
    return ok("It supports linearizable reads, and joins by pipelines.");
  } catch (error) {
    if (error instanceof MongoServerError && error.code === maxTimeMsExpired)
      return fault(
        `The primary does not confirm a read within ${featureMs / 1_000} seconds, so requests get 503.`,
        "Look for a slow disk, a lock (db.fsyncLock) or a slow network on the members (rs.status(), db.currentOp()).",
      );
    if (!(error instanceof MongoServerError) || isUnavailable(error))
      return note(`Not tried: ${reasonOf(error)}.`, "See the other findings on MongoDB.");
    return fault(
      `The server lacks what the service needs: ${reasonOf(error)} (${error.codeName ?? error.code}).`,
      "Use MongoDB 6.0 or later. Databases that imitate it, such as Amazon DocumentDB, Azure Cosmos DB and FerretDB, do not work.",
    );
  }
}
