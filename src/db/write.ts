// Every write of an account's records goes through here: alone, or in one majority transaction with the idempotency key.
import type { Message } from "@bufbuild/protobuf";
import type { ClientSession, Collection, MongoClient } from "mongodb";
import { MongoError, MongoServerError } from "mongodb";
import type { ClaimDocument, WriteScope } from "../guards/scope.ts";
import { requireGrant } from "../guards/scope.ts";
import { Reason } from "../gen/records/v1/errors_pb.ts";
import { fail } from "../errors.ts";
import { duplicateIndex, isBrokenConnection } from "./mongo.ts";

/** The collection of completed writes by idempotency key. */
export const claimsCollection = "idempotency";

/** Another request has claimed the idempotency key: its answer is to be looked for. Nothing was written. */
export class ClaimTaken extends Error {
  override readonly name = "ClaimTaken";
}

/** What a write does; the session is undefined where the write needs no transaction. */
export type Work<T> = (session: ClientSession | undefined) => Promise<T>;

/** How a write is committed. */
export interface CommitOptions {
  /** True where the work writes more than one document, so that it needs a transaction even without a claim. */
  readonly atomic?: boolean;
}

/** Long enough for a failover, and no longer than anyone waits. */
const retryLimitMs = 30_000;

/**
 * Does the work and, when the scope bears an idempotency key, stores that key with it: both or neither, by a majority.
 * The claim is inserted first, so that a repeated request finds its answer before anything else is looked at. The answer
 * must be known before the commit. Throws ClaimTaken when the key is taken, and whatever the work throws.
 */
export async function commit<T>(
  client: MongoClient,
  scope: WriteScope,
  answer: Message | undefined,
  work: Work<T>,
  options: CommitOptions = {},
): Promise<T> {
  requireGrant(scope);
  if (scope.claim === undefined && options.atomic !== true) return work(undefined);
  const claim = scope.claim === undefined || answer === undefined ? undefined : scope.claim.document(answer);
  const claims = claimsOf(client);
  return transaction(client, async (session) => {
    if (claim !== undefined) await insertClaim(claims, claim, session);
    return work(session);
  });
}

const known = new WeakMap<MongoClient, Collection<ClaimDocument>>();

/** Made once: the driver takes longer to make it than for a command. */
function claimsOf(client: MongoClient): Collection<ClaimDocument> {
  const claims = known.get(client) ?? client.db().collection<ClaimDocument>(claimsCollection);
  known.set(client, claims);
  return claims;
}

/** Does the work in one majority transaction; the work is done again where it collided with another. */
export function transaction<T>(client: MongoClient, work: (session: ClientSession) => Promise<T>): Promise<T> {
  return client.withSession((session) => transact(session, () => work(session)));
}

/**
 * Inserts by an upsert that matches nothing, because only an update can take `created_at` from the database's clock, by
 * which the 24 hours are counted.
 */
async function insertClaim(claims: Collection<ClaimDocument>, claim: ClaimDocument, session: ClientSession): Promise<void> {
  const document = { $mergeObjects: [{ $literal: claim }, { created_at: "$$NOW" }] };
  try {
    await claims.updateOne({ _id: claim._id, fingerprint: { $exists: false } }, [{ $replaceWith: document }], { session, upsert: true });
  } catch (error) {
    if (duplicateIndex(error) !== undefined) throw new ClaimTaken();
    throw error;
  }
}

/**
 * Runs a transaction, again as long as MongoDB says that trying again is safe: the work after a transient error, the
 * commit alone while its result is unknown. The driver's own loop goes on for two minutes without a pause.
 */
async function transact<T>(session: ClientSession, work: () => Promise<T>): Promise<T> {
  const until = Date.now() + retryLimitMs;
  for (let attempt = 0; ; attempt++) {
    session.startTransaction({ readConcern: { level: "snapshot" }, writeConcern: { w: "majority" } });
    try {
      const result = await work();
      await commitTransaction(session, until);
      return result;
    } catch (error) {
      if (session.inTransaction()) await session.abortTransaction().catch(() => undefined);
      if (!(hasLabel(error, "TransientTransactionError") || isCutOff(error)) || Date.now() >= until) throw error;
      await pause(attempt);
    }
  }
}

async function commitTransaction(session: ClientSession, until: number): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      await session.commitTransaction();
      return;
    } catch (error) {
      if (!isUnsettled(error) || Date.now() >= until) throw error;
      await pause(attempt);
    }
  }
}

/**
 * Whether nobody knows what came of a commit. Where the connection breaks while it is written, the driver stumbles over
 * the socket's error, and throws none of its own.
 */
function isUnsettled(error: unknown): boolean {
  return hasLabel(error, "UnknownTransactionCommitResult") || isCutOff(error) || !(error instanceof MongoError);
}

function hasLabel(error: unknown, label: string): boolean {
  return error instanceof MongoError && error.hasErrorLabel(label);
}

/**
 * What has no label, and is yet safe to repeat: the session was ended under a command, as one is that seemed abandoned
 * (`abandoned.ts`), or the connection broke under it.
 */
function isCutOff(error: unknown): boolean {
  return (error instanceof MongoServerError && error.code === 11601) || isBrokenConnection(error);
}

/** More than a record that is changed by many at once needs, and few enough that nobody goes on for ever. */
const attemptLimit = 50;

/**
 * For a write that rests on what was read before: `attempt` reads, writes, and gives undefined when something came
 * between; then it is done again. Fails with UNAVAILABLE when something comes between every time.
 */
export async function withoutInterference<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  for (let attempts = 0; attempts < attemptLimit; attempts++) {
    const result = await attempt();
    if (result !== undefined) return result;
    await pause(Math.min(attempts, 3));
  }
  return fail(Reason.UNAVAILABLE, { message: "The record is being changed by many at once; try again." });
}

/** Waits 2 to 100 ms, at random, longer with every attempt, so that writes which collided do not collide again. */
function pause(attempt: number): Promise<void> {
  const limit = Math.min(100, 4 * 2 ** attempt);
  return new Promise((resolve) => setTimeout(resolve, 2 + Math.random() * limit));
}
