// Writes: one command, or one majority transaction with the idempotency key. None starts after its deadline.
import type { Message } from "@bufbuild/protobuf";
import type { ClientSession, Collection, Document, MongoClient, UUID } from "mongodb";
import { MongoError, MongoNetworkError, MongoServerError } from "mongodb";
import { collections } from "./collections.ts";
import type { Deadline } from "../call/deadline.ts";
import { isTimeoutOrUnavailable, isPast, leftMs, onPassed, requireNotPast } from "../call/deadline.ts";
import { timed, timedCommand } from "../call/tally.ts";
import type { ClaimDocument, WriteScope } from "../call/scope.ts";
import { noteWrite, confirmGrant, requireGrant } from "../call/scope.ts";
import { Failure, fail } from "../call/errors.ts";
import { pause } from "./conflicts.ts";
import { tallySession } from "./connection.ts";
import type { Term } from "./lease.ts";
import { commandLimitMs, duplicateIndex } from "./mongo.ts";
import { primaryOf } from "./primary.ts";

/** Thrown when another request has claimed the idempotency key. Nothing was written: look up its response. */
export class ClaimTaken extends Error {
  override readonly name = "ClaimTaken";
}

/** Thrown when the fence no longer holds, and nothing was written. `write` fails with the deadline's reason instead. */
export class TooLate extends Error {
  override readonly name = "TooLate";
}

/**
 * Options of every command of a write: its transaction, or the limits that end it at the deadline, here and in MongoDB.
 */
export interface WriteOptions {
  readonly session?: ClientSession;
  readonly signal?: AbortSignal;
  readonly maxTimeMS?: number;
}

/**
 * A condition for the filter of a write that no longer matches after the deadline, by the database's own clock. A
 * command can be held up in a network or a stalled process until its caller has left, and must not be executed then.
 * Empty in a transaction, where the commit decides. `fence.ts` handles upserts and writes that matched nothing.
 */
export type Fence = Document;

/** The commands of a write. */
export type Work<T> = (options: WriteOptions, fence: Fence) => Promise<T>;

/** The work of a one-command write. It does not compile unless it has a parameter for the fence. */
export type FencedWork<W extends Work<unknown>> = W &
  (Parameters<W>["length"] extends 2 ? unknown : "the command needs the fence");

/** The response to a write, and the records in it: deleting any of them erases the response. */
export interface RecordedResponse {
  readonly message: Message;
  readonly records: readonly UUID[];
}

/** Options of a commit. */
export interface CommitOptions {
  /** True if the work writes several documents, and so needs a transaction even without a claim. */
  readonly atomic?: boolean;
}

/**
 * Does the work. If the scope has an idempotency key, stores both atomically by a majority. The claim is inserted
 * first, so that a repeated request finds its response before anything else is read. The response must be known before
 * the commit; an rpc without idempotency keys has none. Proves the scope's credential first if it is unproven. Throws
 * ClaimTaken when the key is taken, and the errors of the work.
 */
export function commit<T>(
  client: MongoClient,
  scope: WriteScope,
  response: RecordedResponse | undefined,
  work: (options: WriteOptions) => Promise<T>,
  options: { readonly atomic: true },
): Promise<T>;
export function commit<W extends Work<unknown>>(
  client: MongoClient,
  scope: WriteScope,
  response: RecordedResponse | undefined,
  work: FencedWork<W>,
  options?: CommitOptions,
): Promise<Awaited<ReturnType<W>>>;
export async function commit<T>(
  client: MongoClient,
  scope: WriteScope,
  response: RecordedResponse | undefined,
  work: Work<T>,
  options: CommitOptions = {},
): Promise<T> {
  if (scope.unproven?.proven === false) await scope.unproven.prove();
  await confirmGrant(scope);
  if (scope.claim === undefined && options.atomic !== true) {
    noteWrite(scope);
    return write(client, scope.deadline, work);
  }
  const claim = scope.claim === undefined || response === undefined ? undefined : scope.claim.document(response);
  const claims = claimsOf(client);
  return transaction(client, scope.deadline, async (session) => {
    // Checked again for every attempt of a transaction, because seconds may have passed.
    requireGrant(scope);
    if (claim !== undefined) await insertClaim(claims, claim, session);
    const result = await work({ session }, {});
    noteWrite(scope);
    return result;
  });
}

/**
 * Does the work of one command. Resolves, or fails with a duplicate key, once a majority has the written or existing
 * document and no instance reads from a primary without it. At the deadline, the command is interrupted and not
 * repeated.
 */
export function write<W extends Work<unknown>>(
  client: MongoClient,
  deadline: Deadline,
  work: FencedWork<W>,
): Promise<Awaited<ReturnType<W>>>;
export async function write<T>(client: MongoClient, deadline: Deadline, work: Work<T>): Promise<T> {
  const primary = primaryOf(client);
  primary.require();
  requireNotPast(deadline);
  const { signal } = deadline;
  const fence = { $expr: { $lt: ["$$NOW", primary.databaseTime(deadline.at)] } };
  // MongoDB evaluates the fence when a command begins. Without a time limit, a command that stalls later would still
  // write.
  const options = { signal, maxTimeMS: leftMs(deadline) };
  const result = await timedCommand(deadline.tally, "mongodb write", () => work(options, fence)).catch(
    async (error: unknown) => {
      if (error instanceof TooLate) failTooLate(deadline);
      // A bulk write wraps the reason in its own error, and MongoDB's own time limit can end a command first.
      if (signal.aborted || !dependsOnReads(error)) requireNotPast(deadline);
      if (duplicateIndex(error) !== undefined) await primary.waitUntilDurable(deadline);
      throw error;
    },
  );
  await primary.waitUntilDurable(deadline);
  return result;
}

/** Fails a write that its fence has rejected. */
export function failTooLate({ reason }: Pick<Deadline, "reason">): never {
  return fail(reason, { because: "deadline", waitingFor: "mongodb write" });
}

const known = new WeakMap<MongoClient, Collection<ClaimDocument>>();

/** Caches the collection, because the driver takes longer to create it than to send a command. */
function claimsOf(client: MongoClient): Collection<ClaimDocument> {
  const claims = known.get(client) ?? client.db().collection<ClaimDocument>(collections.claims);
  known.set(client, claims);
  return claims;
}

/**
 * Does the work in one majority transaction. Repeats it after a conflict with another transaction, until the deadline.
 * Resolves as `write` does. If the work fails, a majority has the data that it read.
 */
export async function transaction<T>(
  client: MongoClient,
  deadline: Deadline,
  work: (session: ClientSession) => Promise<T>,
): Promise<T> {
  const primary = primaryOf(client);
  const term = primary.require();
  return timed(deadline.tally, "dbMs", "mongodb transaction", () =>
    client.withSession(async (session) => {
      const endTally = tallySession(session, deadline.tally);
      // The shared signal of a deadline can be late, and a commit has no fence.
      const release = onPassed(deadline, () => endSession(client, session));
      try {
        const result = await transact(session, deadline, () => work(session)).finally(release);
        await primary.waitUntilDurable(deadline);
        return result;
      } catch (error) {
        if (dependsOnReads(error)) await settle(client, session, term);
        throw error;
      } finally {
        endTally();
      }
    }),
  );
}

/**
 * Ends a transaction: an ended session sends nothing more, neither a commit that waits for a server nor the driver's
 * retry of one. Also ends it in MongoDB, if that can be reached.
 */
function endSession(client: MongoClient, session: ClientSession): void {
  session.hasEnded = true;
  // The driver skips this event for an ended session, and would keep the session until the client is closed.
  session.emit("ended", session);
  void client
    .db("admin")
    .command({ killSessions: [{ id: session.id?.id }] })
    .catch(() => undefined);
}

/** Whether an error depends on data that the transaction read, such as a missing record or a duplicate email. */
function dependsOnReads(error: unknown): boolean {
  return (error instanceof Failure && !isTimeoutOrUnavailable(error)) || duplicateIndex(error) !== undefined;
}

/**
 * Waits until a majority has the data that a failed transaction read. A transaction reads the newest data, which may
 * still be rolled back, and only a commit would confirm it. Fails with UNAVAILABLE if it cannot be confirmed.
 */
async function settle(client: MongoClient, { operationTime }: ClientSession, term: Term): Promise<void> {
  const readConcern = { level: "majority", ...(operationTime && { afterClusterTime: operationTime }) };
  await client
    .db()
    .command({ find: collections.switches, limit: 1, singleBatch: true, readConcern, maxTimeMS: commandLimitMs });
  primaryOf(client).confirm(term);
}

/**
 * Inserts a claim by an upsert that matches nothing: only an update can set `created_at` from the database's clock,
 * which measures the 24 hours.
 */
async function insertClaim(
  claims: Collection<ClaimDocument>,
  claim: ClaimDocument,
  session: ClientSession,
): Promise<void> {
  const document = { $mergeObjects: [{ $literal: claim }, { created_at: "$$NOW" }] };
  try {
    await claims.updateOne({ _id: claim._id, fingerprint: { $exists: false } }, [{ $replaceWith: document }], {
      session,
      upsert: true,
    });
  } catch (error) {
    if (duplicateIndex(error) !== undefined) throw new ClaimTaken();
    throw error;
  }
}

/**
 * Runs a transaction and retries while MongoDB reports that this is safe: the work after a transient error, only the
 * commit while its result is unknown. Never retries after the deadline, because the caller then has its response.
 */
async function transact<T>(session: ClientSession, deadline: Deadline, work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    requireNotPast(deadline);
    session.startTransaction({ readConcern: { level: "snapshot" }, writeConcern: { w: "majority" } });
    try {
      const result = await work();
      requireNotPast(deadline);
      await commitTransaction(session, deadline);
      return result;
    } catch (error) {
      if (session.inTransaction()) await session.abortTransaction().catch(() => undefined);
      if (!(hasLabel(error, "TransientTransactionError") || isInterrupted(error)) || isPast(deadline)) throw error;
      await pause(attempt);
    }
  }
}

async function commitTransaction(session: ClientSession, deadline: Deadline): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      await session.commitTransaction();
      return;
    } catch (error) {
      if (!isCommitResultUnknown(error) || isPast(deadline)) throw error;
      await pause(attempt);
    }
  }
}

function isCommitResultUnknown(error: unknown): boolean {
  return hasLabel(error, "UnknownTransactionCommitResult") || isInterrupted(error);
}

function hasLabel(error: unknown, label: string): boolean {
  return error instanceof MongoError && error.hasErrorLabel(label);
}

/**
 * Whether an error without a label is safe to retry: the session was killed as abandoned (`abandoned.ts`), or the
 * connection broke. The driver adds no label if it has cleared the pool because of another connection.
 */
function isInterrupted(error: unknown): boolean {
  return (error instanceof MongoServerError && error.code === 11601) || error instanceof MongoNetworkError;
}
