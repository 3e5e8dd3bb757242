// Makes a mongod the primary of a replica set of one, because transactions require a replica set.
import {
  MongoClient,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
  type Db,
  type MongoClientOptions,
} from "mongodb";
import { until } from "./wait.ts";

export const REPLICA_SET = "records";
/** Errors of `becomeMember` that pass. */
const passing = ["NotYetInitialized", "AlreadyInitialized"];

/** The fields of mongod's replica set configuration that are used here. The others are passed back unchanged. */
interface StoredSet {
  readonly _id: string;
  readonly version: number;
  readonly members: readonly { readonly _id: number; readonly host: string }[];
}

/** Access to a mongod that requires credentials. */
export interface Keyed {
  /** The content of its key file. */
  readonly key: string;
  /**
   * Called once mongod accepts writes, with a client that has all privileges. Called again if the connection was lost.
   */
  prepare(admin: Db): Promise<void>;
}

/**
 * Resolves when the mongod with this pid is a primary that accepts writes on this port. The first start creates the
 * set. A later start forces its only member to the new port, which takes milliseconds. Starting on the old port again
 * would take longer, because mongod becomes a member there before it listens. Fails if mongod rejects a command, or
 * once the signal is aborted.
 */
export async function becomePrimary(port: number, pid: number, signal: AbortSignal, keyed?: Keyed): Promise<void> {
  const host = `127.0.0.1:${port}`;
  const options = { serverSelectionTimeoutMS: 5_000, ...(keyed && asMember(keyed.key)) };
  const client = new MongoClient(`mongodb://${host}/?directConnection=true`, options);
  const admin = client.db("admin");
  try {
    await until(() => unlessLost(() => isServedBy(admin, pid)), signal);
    await until(() => unlessLost(() => becomeMember(client, host)), signal);
    await until(() => unlessLost(() => isPrimary(admin)), signal);
    await until(() => unlessLost(async () => keyed?.prepare(admin)), signal);
  } finally {
    await client.close();
  }
}

/**
 * Returns false if the step does, or if the connection was lost, so that the step is repeated. mongod can
 * close connections while its state changes, and the driver does not retry these commands.
 */
async function unlessLost(step: () => Promise<unknown>): Promise<boolean> {
  try {
    return (await step()) !== false;
  } catch (error) {
    if (error instanceof MongoNetworkError || error instanceof MongoServerSelectionError) return false;
    throw error;
  }
}

/**
 * Creates the set, or moves the stored one to this host. Returns false while mongod still checks whether it is the
 * server that listens on the old port. That takes up to 30 seconds if another process does. Also returns false if an
 * attempt whose connection was lost has created the set.
 */
async function becomeMember(client: MongoClient, host: string): Promise<boolean> {
  const admin = client.db("admin");
  const stored = await client.db("local").collection<StoredSet>("system.replset").findOne();
  try {
    if (stored === null) {
      await admin.command({ replSetInitiate: { _id: REPLICA_SET, members: [{ _id: 0, host }] } });
    } else {
      const members = stored.members.map((member) => ({ ...member, host }));
      await admin.command({ replSetReconfig: { ...stored, version: stored.version + 1, members }, force: true });
    }
    return true;
  } catch (error) {
    if (error instanceof MongoServerError && passing.includes(String(error.codeName))) return false;
    throw error;
  }
}

async function isPrimary(admin: Db): Promise<boolean> {
  return (await admin.command({ hello: 1 }))["isWritablePrimary"] === true;
}

/**
 * Returns options that authenticate with the key, as members of a set do, before any user exists. The key itself is not
 * sent.
 */
export function asMember(key: string): MongoClientOptions {
  return { auth: { username: "__system", password: key }, authSource: "local", authMechanism: "SCRAM-SHA-256" };
}

/** Returns false if another mongod, with another pid or key, has taken the port. Our mongod is then about to end. */
async function isServedBy(admin: Db, pid: number): Promise<boolean> {
  try {
    return String((await admin.command({ serverStatus: 1, repl: 0, metrics: 0 }))["pid"]) === String(pid);
  } catch (error) {
    if (error instanceof MongoServerError) return false;
    throw error;
  }
}
