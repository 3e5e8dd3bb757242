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
import { Failure, failureOf } from "../errors.ts";
import { brokenConnectionCodes, isOurFault, repeatableCodes } from "./error-codes.ts";
import { watchPool } from "./pool.ts";
import { mostAtOnce, primaryOf, watchPrimary } from "./primary.ts";
import { rejectionOf } from "./rejection.ts";
import { repairTopologyVersions } from "./topology-version.ts";

/** By which MongoDB knows our connections. */
export const appName = "records";
/** Commands give up on their own a little before a request's deadline of 5 seconds. */
export const commandLimitMs = 4_500;

/**
 * Connections of an instance to each server beside those for requests: the proofs of the lease, and two monitors of
 * each of its two clients.
 */
export const connectionsBeside = mostAtOnce + 4;

/** How long a start waits before it tries to connect again. */
export const retryMs = 250;

/** An index that a store needs. */
export interface IndexSpec {
  readonly collection: string;
  readonly indexes: readonly IndexDescription[];
  /** The names of indexes that an earlier release made and none needs any more. */
  readonly retired?: readonly string[];
  /**
   * The name of one that a large import takes away for a while: where there are many records, it is not built at the
   * start.
   */
  readonly deferred?: string;
}

/** A collection that a store needs. */
export interface CollectionSpec extends IndexSpec {
  /** How the records of an account are found when it is erased; undefined where the collection has none. */
  readonly erasure: ErasurePlan | undefined;
}

/** An account on its way out. */
export interface LeavingAccount {
  readonly id: UUID;
  /** Those that it was linked to; undefined once they are forgotten. */
  readonly identities: readonly { readonly issuer: string; readonly subject: string }[] | undefined;
  /** What users do from here on is no longer the account's. */
  readonly begunAt: Date;
}

/** What of a collection is an account's, and the indexed field by whose ranges it is deleted. */
export interface ErasurePlan {
  readonly key: "_id" | "created_at" | "rank";
  readonly hint?: string;
  /** What has the account's id in `account_id` where it is not said; undefined where there can be nothing. */
  readonly filter?: (account: LeavingAccount) => Document | undefined;
}

/** Every collection of records has it: by it all records of an account are found, in an order that nothing changes. */
export const recordsIndex = { key: { account_id: 1, _id: 1 }, name: "records" } as const;

/**
 * Connects. Writes are acknowledged by a majority, so that no failover loses them. A server that hangs is found by the
 * monitor within about 4 seconds, and what waits for it is ended then. Whatever the URI says, reads are those of the
 * primary, of what a majority has, and under the lease of `primary.ts`. Throws with one line when the URI is none, no
 * primary is found within `waitMs`, or the server has no transactions; at once where it rejects us for good. `maxPool`
 * bounds the connections for requests to each server; by default the URI does.
 */
export async function connectMongo(uri: string, waitMs: number, maxPool?: number): Promise<MongoClient> {
  const client = clientOf(uri, { monitorCommands: true, ...poolOptions(maxPool) });
  const prober = clientOf(uri, { maxPoolSize: mostAtOnce, minPoolSize: 0 });
  repairTopologyVersions(client);
  watchPool(client);
  watchPrimary(client, prober);
  const until = performance.now() + waitMs;
  for (;;) {
    try {
      await client.connect();
      requireServer(await client.db("admin").command({ hello: 1 }));
      await primaryOf(client).prove();
      return client;
    } catch (error) {
      const rejection = rejectionOf(error);
      // The driver passes on Node's own errors where it cannot resolve a mongodb+srv:// name.
      const mayPass = error instanceof MongoError || (error instanceof Error && "syscall" in error);
      if (rejection === undefined && mayPass && performance.now() < until) {
        await sleep(retryMs);
        continue;
      }
      await Promise.all([client.close(), prober.close()]);
      if (rejection !== undefined) throw new Error(`MONGODB_URI: ${rejection}`, { cause: error });
      if (!mayPass) throw error;
      throw new Error(`MONGODB_URI: MongoDB cannot be reached (${error.message})`, { cause: error });
    }
  }
}

/** Overrides the sizes in the URI, whose smallest may be above our largest. */
export function poolOptions(maxPool: number | undefined): MongoClientOptions {
  return maxPool === undefined ? {} : { maxPoolSize: maxPool, minPoolSize: 0 };
}

function clientOf(uri: string, options: MongoClientOptions): MongoClient {
  try {
    return new MongoClient(withDatabase(uri), {
      appName,
      writeConcern: { w: "majority" },
      // What a majority does not have may be undone, and another member may not know yet that a key was revoked.
      readConcern: { level: "majority" },
      readPreference: "primary",
      serverSelectionTimeoutMS: commandLimitMs,
      waitQueueTimeoutMS: commandLimitMs,
      connectTimeoutMS: 2_000,
      heartbeatFrequencyMS: 2_000,
      ...options,
    });
  } catch (error) {
    throw new Error(`MONGODB_URI: is not valid (${error instanceof Error ? error.message : String(error)})`, {
      cause: error,
    });
  }
}

/**
 * Where the URI names no database it is `records`, and a user is still one of `admin`, as without a database's name.
 */
export function withDatabase(uri: string): string {
  const [, server = uri, database = "", query = ""] =
    /^(mongodb(?:\+srv)?:\/\/[^/?]*)(\/[^?]*)?(\?.*)?$/.exec(uri) ?? [];
  if (database.length > 1) return uri;
  const authenticates = server.includes("@") && !/[?&]authSource=/i.test(query);
  const options = authenticates ? `${query === "" ? "?" : `${query}&`}authSource=admin` : query;
  return `${server}/records${options}`;
}

/** The wire version of MongoDB 6.0, the oldest that joins sharded collections and is tested. */
const oldestOfMongos = 17;

/** Throws where a server cannot serve, by its reply to `hello`. */
export function requireServer({ setName, msg, maxWireVersion }: Document): void {
  if (msg === "isdbgrid" && !(Number(maxWireVersion) >= oldestOfMongos))
    throw new Error("MONGODB_URI: a sharded cluster must run MongoDB 6.0 or later");
  if (setName !== undefined || msg === "isdbgrid") return;
  throw new Error(
    "MONGODB_URI: must be a replica set (one member is enough) or a sharded cluster: a single server does not support transactions",
  );
}

/** For the dropping of an index that may not be there. */
export function unlessMissing(error: unknown): void {
  if (!(error instanceof MongoServerError) || error.codeName !== "IndexNotFound") throw error;
}

/** The UUID that a text in canonical form names, in upper or lower case. Throws a RangeError for any other text. */
export function uuid(text: string): UUID {
  return UUID.createFromHexString(text.toLowerCase());
}

/** The fields of the unique index that a write violated; undefined for any other error. Empty for a bulk write. */
export function duplicateIndex(error: unknown): readonly string[] | undefined {
  if (!(error instanceof MongoServerError) || error.code !== 11000) return undefined;
  return Object.keys((error["keyPattern"] as object | undefined) ?? {});
}

/**
 * Whether an error says that MongoDB cannot serve right now (gone, changing its primary, too slow), and not that we are
 * wrong. Of what the driver throws that is all but what is known to be our own fault: an error that nobody has thought
 * of is UNAVAILABLE, with its cause in the log. Any other error, such as a TypeError, is our own, and stays loud.
 */
export function isUnavailable(error: unknown): boolean {
  if (isBrokenConnection(error)) return true;
  if (!(error instanceof MongoError)) return false;
  if (hasPassingLabel(error)) return true;
  // A bulk write under which the pool was cleared or the connection broke has no code, and may have no label.
  if (error instanceof MongoServerError) return !isOurFault(Number(error.code ?? 0));
  return !(error instanceof MongoAPIError) || statesOfTheClient.has(error.name);
}

/**
 * Whether a read that failed so may succeed when it is done again: the connection broke, or its server is the primary
 * no longer.
 */
export function isRepeatable(error: unknown): boolean {
  if (error instanceof MongoServerError) return repeatableCodes.has(Number(error.code)) || hasPassingLabel(error);
  return error instanceof MongoNetworkError || isBrokenConnection(error);
}

/**
 * Whether a connection broke while a command was being written to it. The driver hands on what the socket says then,
 * and neither repeats the command nor labels the error, as it does where a connection breaks at any other moment.
 */
export function isBrokenConnection(error: unknown): boolean {
  if (!(error instanceof Error && "code" in error)) return false;
  const code = String(error.code);
  return brokenConnectionCodes.has(code) || code.startsWith("ERR_SSL_");
}

/** The failure that an error amounts to; that MongoDB cannot serve is UNAVAILABLE, with the error for the log. */
export function failureFrom(error: unknown): Failure {
  return isUnavailable(error) ? new Failure(Reason.UNAVAILABLE, { cause: error }) : failureOf(error);
}

function hasPassingLabel(error: MongoError): boolean {
  return passingLabels.some((label) => error.hasErrorLabel(label));
}

const passingLabels = [
  MongoErrorLabel.RetryableWriteError,
  MongoErrorLabel.TransientTransactionError,
  MongoErrorLabel.UnknownTransactionCommitResult,
];
/** What the driver counts among the errors of its callers, and is yet the server's or the connection's doing. */
const statesOfTheClient = new Set([
  ...["MongoNotConnectedError", "MongoTopologyClosedError", "MongoServerClosedError", "MongoClientClosedError"],
  ...["MongoExpiredSessionError", "MongoCompatibilityError"],
]);
