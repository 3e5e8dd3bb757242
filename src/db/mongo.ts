// The connection to MongoDB.
import { setTimeout as sleep } from "node:timers/promises";
import {
  MongoAPIError,
  MongoClient,
  MongoError,
  MongoErrorLabel,
  MongoNetworkError,
  MongoServerError,
  UUID,
} from "mongodb";
import type { Document, IndexDescription, MongoClientOptions } from "mongodb";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { Failure, failureOf } from "../call/errors.ts";
import { createMongoClient } from "./connection.ts";
import { checkConnections } from "./connection-check.ts";
import { duplicateKey, isInvalidCommand, repeatableCodes, unauthorized } from "./error-codes.ts";
import { watchPool } from "./pool.ts";
import { maxConcurrent, primaryOf, watchPrimary } from "./primary.ts";
import { isRejectedHandshake, keepOpenConnections } from "./rejected-handshakes.ts";
import { rejectionOf, unreachableAt } from "./rejection.ts";

/** The name under which MongoDB lists our connections. */
export const appName = "records";
/** Commands time out a little before a request's deadline (`deadlineMs`, 4.8 seconds). */
export const commandLimitMs = 4_500;

/**
 * Connections of an instance to each server in addition to those for requests: the lease's proofs, and two monitors for
 * each of its two clients.
 */
export const overheadConnections = maxConcurrent + 4;

/** How long the prober keeps a connection that it does not use: connections are opened to check that they can be. */
const maxIdleMs = 2_000;

/** How long a starting instance waits before it tries to connect again. */
export const retryMs = 250;

/** The indexes that a store needs in a collection. */
export interface IndexSpec {
  readonly collection: string;
  readonly indexes: readonly IndexDescription[];
  /** Names of indexes from earlier releases that none needs any more. */
  readonly retired?: readonly string[];
  /** Name of the index that a large import drops temporarily. If there are many records, a start does not build it. */
  readonly deferred?: string;
  /** The variable that decides about these indexes, if one does. */
  readonly setting?: string;
}

/** A collection that a store needs. */
export interface CollectionSpec extends IndexSpec {
  /** How to find an account's records when it is erased; undefined if the collection has none. */
  readonly erasure: ErasurePlan | undefined;
}

/** An account that is being erased. */
export interface ErasedAccount {
  readonly id: UUID;
  /** The identities that were linked to the account; undefined once they are erased. */
  readonly identities: readonly { readonly issuer: string; readonly subject: string }[] | undefined;
  /** Later actions of these identities no longer belong to the account. */
  readonly begunAt: Date;
}

/** How to find an account's documents in a collection, and the indexed field whose ranges are deleted. */
export interface ErasurePlan {
  readonly key: "_id" | "created_at" | "rank";
  readonly hint?: string;
  /** The number of documents of the first batch; by default 200. */
  readonly batchSize?: number;
  /**
   * Returns the filter for the account's documents; undefined if there can be none. By default, it compares
   * `account_id`.
   */
  readonly filter?: (account: ErasedAccount) => Document | undefined;
}

/** The index that every collection of records has. It returns an account's records in an order that never changes. */
export const recordsIndex = { key: { account_id: 1, _id: 1 }, name: "records" } as const;

/**
 * Connects to MongoDB. Writes are acknowledged by a majority, so a failover does not lose them. The monitor detects an
 * unresponsive server within about 4 seconds and ends the commands that wait for it. Reads always use the primary, read
 * concern majority and the lease in `primary.ts`, even if the URI says otherwise. Throws a one-line error if the URI is
 * invalid, no primary is found within `waitMs`, or the server does not support transactions. Throws at once if the
 * server rejects us permanently. Calls `onWait` with the reason after the first failed attempt. `maxPool` limits the
 * connections for requests to each server; by default the URI does.
 */
export async function connectMongo(
  uri: string,
  waitMs: number,
  maxPool?: number,
  onWait: (reason: string) => void = () => undefined,
): Promise<MongoClient> {
  keepOpenConnections();
  const until = performance.now() + waitMs;
  for (let isFirst = true; ; isFirst = false) {
    const { client, close } = openClients(uri, maxPool);
    try {
      await client.connect();
      requireServer(await client.db("admin").command({ hello: 1 }));
      // The driver never compresses hello, and a compressor can lack its module.
      await client.db("admin").command({ ping: 1 });
      await primaryOf(client).prove();
      return client;
    } catch (error) {
      // A closed client, whose lease and checks have ended, is not used again.
      await close();
      const rejection = rejectionOf(error);
      if (rejection !== undefined) throw new Error(`MONGODB_URI: ${rejection}`, { cause: error });
      // The driver passes on Node's own errors if it cannot resolve a mongodb+srv:// name.
      const mayPass = error instanceof MongoError || (error instanceof Error && "syscall" in error);
      if (!mayPass) throw error;
      if (performance.now() >= until)
        throw new Error(`MONGODB_URI: MongoDB cannot be reached (${unreachableAt(error)})`, { cause: error });
      if (isFirst) onWait(unreachableAt(error));
      await sleep(retryMs);
    }
  }
}

/** Creates the client and the prober, which connect on their first use. */
function openClients(
  uri: string,
  maxPool: number | undefined,
): { readonly client: MongoClient; close(): Promise<unknown> } {
  const client = clientOf(uri, poolOptions(maxPool));
  const prober = clientOf(uri, { maxPoolSize: maxConcurrent, minPoolSize: 0, maxIdleTimeMS: maxIdleMs });
  watchPool(client);
  checkConnections(client, prober);
  watchPrimary(client, prober);
  return { client, close: () => Promise.all([client.close(), prober.close()]) };
}

/** Overrides the pool sizes of the URI, whose minimum may exceed our maximum. */
export function poolOptions(maxPool: number | undefined): MongoClientOptions {
  return maxPool === undefined ? {} : { maxPoolSize: maxPool, minPoolSize: 0 };
}

function clientOf(uri: string, options: MongoClientOptions): MongoClient {
  try {
    return createMongoClient(withDatabase(uri), {
      appName,
      // Under these names, the options of the URI do not replace them.
      writeConcern: { w: "majority" },
      journal: true,
      // Data without a majority may be rolled back, and another member may not know yet that a key was revoked.
      readConcernLevel: "majority",
      readPreference: "primary",
      serverSelectionTimeoutMS: commandLimitMs,
      waitQueueTimeoutMS: commandLimitMs,
      connectTimeoutMS: 2_000,
      heartbeatFrequencyMS: 2_000,
      ...options,
    });
  } catch (error) {
    throw new Error(`MONGODB_URI: is not valid (${flawOf(error, uri)})`, { cause: error });
  }
}

/**
 * Returns what the driver finds wrong with a URI. Its message may repeat a part of the credentials, so it is that about
 * the URI without them.
 */
function flawOf(error: unknown, uri: string): string {
  const bare = uri.replace(/^([a-z+]+:\/\/)[\s\S]*@/i, "$1");
  if (bare === uri) return error instanceof Error ? error.message : String(error);
  try {
    new MongoClient(bare);
    return "percent-encode the special characters of its user and password";
  } catch (without) {
    return flawOf(without, bare);
  }
}

/**
 * Sets the database to `records` if the URI names none. Users still authenticate against `admin`, as they do without a
 * database name.
 */
export function withDatabase(uri: string): string {
  const [, server = uri, database = "", query = ""] =
    /^(mongodb(?:\+srv)?:\/\/[^/?]*)(\/[^?]*)?(\?.*)?$/.exec(uri) ?? [];
  if (database.length > 1) return uri;
  const authenticates = server.includes("@") && !/[?&]authSource=/i.test(query);
  const options = authenticates ? `${query === "" ? "?" : `${query}&`}authSource=admin` : query;
  return `${server}/records${options}`;
}

/** The wire version of MongoDB 6.0, the oldest tested version that joins sharded collections. */
const oldestOfMongos = 17;

/** Throws if the server's reply to `hello` shows that it cannot be used. */
export function requireServer({ setName, msg, maxWireVersion }: Document): void {
  if (msg === "isdbgrid" && !(Number(maxWireVersion) >= oldestOfMongos))
    throw new Error("MONGODB_URI: a sharded cluster must run MongoDB 6.0 or later");
  if (setName !== undefined || msg === "isdbgrid") return;
  throw new Error(
    "MONGODB_URI: must be a replica set (one member is enough) or a sharded cluster: a single server does not support transactions",
  );
}

/** Ignores the error of dropping an index that does not exist. */
export function ignoreMissingIndex(error: unknown): void {
  if (!(error instanceof MongoServerError) || error.codeName !== "IndexNotFound") throw error;
}

/** Returns a copy to keep: an id that was read from MongoDB shares the memory of the whole reply. */
export function unshared(id: UUID): UUID {
  const bytes = Buffer.allocUnsafeSlow(id.buffer.length);
  bytes.set(id.buffer);
  return new UUID(bytes);
}

/** Parses a UUID in canonical form, in upper or lower case. Throws a RangeError for any other text. */
export function uuid(text: string): UUID {
  return UUID.createFromHexString(text.toLowerCase());
}

/**
 * Returns the fields of the unique index that a write violated; undefined for any other error. Empty for a bulk write.
 */
export function duplicateIndex(error: unknown): readonly string[] | undefined {
  if (!(error instanceof MongoServerError) || error.code !== duplicateKey) return undefined;
  return Object.keys((error["keyPattern"] as object | undefined) ?? {});
}

/**
 * Whether an error means that MongoDB is unavailable: unreachable, changing its primary, or too slow. That includes all
 * errors of the driver except those known to be our own fault, so an unforeseen one is UNAVAILABLE, with its cause in
 * the log. Any other error, such as a TypeError, is a bug and stays visible.
 */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof MongoError)) return false;
  if (hasTransientLabel(error)) return true;
  // If the pool is cleared or the connection breaks, the error of a bulk write has no code and may have no label.
  if (error instanceof MongoServerError) return !isInvalidCommand(Number(error.code ?? 0));
  return !(error instanceof MongoAPIError) || statesOfTheClient.has(error.name);
}

/**
 * Whether a failed read may succeed if repeated: the connection broke, or its server is no longer primary. After a
 * rejected handshake, the read waits for an open connection.
 */
export function isRepeatable(error: unknown): boolean {
  if (error instanceof MongoServerError)
    return repeatableCodes.has(Number(error.code)) || hasTransientLabel(error) || isRejectedHandshake(error);
  return error instanceof MongoNetworkError;
}

/**
 * Returns the failure that an error amounts to. If MongoDB is unavailable, that is UNAVAILABLE, with the error for the
 * log.
 */
export function mongoFailureOf(error: unknown): Failure {
  return isUnavailable(error) ? new Failure(Reason.UNAVAILABLE, { cause: error }) : failureOf(error);
}

/**
 * Whether background work failed because MongoDB is unavailable, which the log reports once for everything. A command
 * that the user may not send is another matter.
 */
export function isAway(error: unknown): boolean {
  const isDeniedCommand = error instanceof MongoServerError && error.code === unauthorized;
  return !isDeniedCommand && mongoFailureOf(error).reason === Reason.UNAVAILABLE;
}

function hasTransientLabel(error: MongoError): boolean {
  return transientLabels.some((label) => error.hasErrorLabel(label));
}

const transientLabels = [
  MongoErrorLabel.RetryableWriteError,
  MongoErrorLabel.TransientTransactionError,
  MongoErrorLabel.UnknownTransactionCommitResult,
];
/** Errors that the driver attributes to its callers although the server or the connection causes them. */
const statesOfTheClient = new Set([
  ...["MongoNotConnectedError", "MongoTopologyClosedError", "MongoServerClosedError", "MongoClientClosedError"],
  ...["MongoExpiredSessionError", "MongoCompatibilityError"],
]);
