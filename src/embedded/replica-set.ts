// Makes a mongod a replica set of one and its primary: without a replica set there are no transactions.
import { MongoClient, MongoServerError, type Db, type MongoClientOptions } from "mongodb";
import { until } from "./wait.ts";

export const REPLICA_SET = "records";

/** What mongod stores of its set, as far as it matters here; the rest is handed back untouched. */
interface StoredSet {
  readonly _id: string;
  readonly version: number;
  readonly members: readonly { readonly _id: number; readonly host: string }[];
}

/** For a mongod that requires credentials. */
export interface Keyed {
  /** The content of its key file. */
  readonly key: string;
  /** Called as soon as it accepts writes, with a client that has all privileges. */
  prepare(admin: Db): Promise<void>;
}

/**
 * Resolves when the mongod with this pid is a primary that takes writes on this port. On a first start the set is
 * made; on a later one its only member is moved to the new port by force. That takes milliseconds, less than coming
 * up on the old port again would: there mongod becomes a member before it listens.
 * Fails where mongod rejects, or once the signal is aborted.
 */
export async function becomePrimary(port: number, pid: number, signal: AbortSignal, keyed?: Keyed): Promise<void> {
  const host = `127.0.0.1:${port}`;
  const options = { serverSelectionTimeoutMS: 5_000, ...(keyed && asMember(keyed.key)) };
  const client = new MongoClient(`mongodb://${host}/?directConnection=true`, options);
  const admin = client.db("admin");
  try {
    await until(() => isServedBy(admin, pid), signal);
    const stored = await client.db("local").collection<StoredSet>("system.replset").findOne();
    if (stored === null) {
      await admin.command({ replSetInitiate: { _id: REPLICA_SET, members: [{ _id: 0, host }] } });
    } else {
      const members = stored.members.map((member) => ({ ...member, host }));
      await until(() => reconfigured(admin, { ...stored, version: stored.version + 1, members }), signal);
    }
    await until(async () => (await admin.command({ hello: 1 }))["isWritablePrimary"] === true, signal);
    await keyed?.prepare(admin);
  } finally {
    await client.close();
  }
}

/** Authenticates by the key, as members of a set do, before there is any user. The key is not sent. */
export function asMember(key: string): MongoClientOptions {
  return { auth: { username: "__system", password: key }, authSource: "local", authMechanism: "SCRAM-SHA-256" };
}

/** False where another mongod, with another key, has taken the port: ours is about to end then. */
async function isServedBy(admin: Db, pid: number): Promise<boolean> {
  try {
    return String((await admin.command({ serverStatus: 1, repl: 0, metrics: 0 }))["pid"]) === String(pid);
  } catch (error) {
    if (error instanceof MongoServerError) return false;
    throw error;
  }
}

/**
 * False while mongod still checks at the old port whether it is itself that listens there: up to 30 seconds if somebody
 * does.
 */
async function reconfigured(admin: Db, set: StoredSet): Promise<boolean> {
  try {
    await admin.command({ replSetReconfig: set, force: true });
    return true;
  } catch (error) {
    if (error instanceof MongoServerError && error.codeName === "NotYetInitialized") return false;
    throw error;
  }
}
