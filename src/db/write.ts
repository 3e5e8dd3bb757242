// Every write goes through here: one command, or one majority transaction with the idempotency key. None is begun after
// its deadline.
import type { Message } from "@bufbuild/protobuf";
import type { ClientSession, Collection, Document, MongoClient, UUID } from "mongodb";
import { MongoError, MongoServerError } from "mongodb";
import { collections } from "./collections.ts";
import type { Deadline } from "../deadline.ts";
import { isGivenUp, isPast, leftMs, requireTime } from "../deadline.ts";
import { tallySession, timed, timedCommand } from "../tally.ts";
import type { ClaimDocument, WriteScope } from "../call/scope.ts";
import { noteWrite, requireGrant } from "../call/scope.ts";
import { Failure, fail } from "../errors.ts";
import { pause } from "./conflicts.ts";
import type { Term } from "./lease.ts";
import { commandLimitMs, duplicateIndex, isBrokenConnection } from "./mongo.ts";
import { primaryOf } from "./primary.ts";

/** Another request has claimed the idempotency key: its response is to be looked for. Nothing was written. */
export class ClaimTaken extends Error {
  override readonly name = "ClaimTaken";
}

/** The fence no longer holds: nothing was written. `write` fails with the deadline's reason instead. */
export class TooLate extends Error {
  override readonly name = "TooLate";
}

/**
 * Goes with every command of a write: the transaction that it belongs to, or else what ends it at the deadline, here
 * and in MongoDB.
 */
export interface WriteOptions {
  readonly session?: ClientSession;
  readonly signal?: AbortSignal;
  readonly maxTimeMS?: number;
}

/**
 * A condition for the filter of a write: it does not match after the deadline, by the database's own clock. A command
 * can lie in a network or a stalled process for longer than its caller waits, and would be carried out then. Empty in a
 * transaction, where the commit decides. `fence.ts` has what an upsert does instead, and what a write that matched
 * nothing has to find out.
 */
export type Fence = Document;

/** What a write does. */
export type Work<T> = (options: WriteOptions, fence: Fence) => Promise<T>;

/** The work of a one-command write. It does not compile unless it takes its fence. */
export type FencedWork<W extends Work<unknown>> = W &
  (Parameters<W>["length"] extends 2 ? unknown : "the command needs the fence");

/** The response to a write, and the records that it shows: deleting any of them erases it. */
export interface RecordedResponse {
  readonly message: Message;
  readonly records: readonly UUID[];
}

/** How a write is committed. */
export interface CommitOptions {
  /** True where the work writes more than one document, so that it needs a transaction even without a claim. */
  readonly atomic?: boolean;
}

/**
 * Does the work and, when the scope has an idempotency key, stores that key with it: both or neither, by a majority.
 * The claim is inserted first, so that a repeated request finds its response before anything else is looked at. The
 * response must be known before the commit. Throws ClaimTaken when the key is taken, and whatever the work throws.
 * Where the scope's credential is not proven yet, that is done first.
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
  requireGrant(scope);
  if (scope.claim === undefined && options.atomic !== true) {
    noteWrite(scope);
    return write(client, scope.deadline, work);
  }
  const claim = scope.claim === undefined || response === undefined ? undefined : scope.claim.document(response);
  const claims = claimsOf(client);
  return transaction(client, scope.deadline, async (session) => {
    // Also of a transaction that is done again: seconds may have passed.
    requireGrant(scope);
    if (claim !== undefined) await insertClaim(claims, claim, session);
    const result = await work({ session }, {});
    noteWrite(scope);
    return result;
  });
}

/**
 * Does work that is one command. It resolves, or fails because there is such a record already, when a majority has what
 * it has written or met, and no instance reads from a primary without it any more. At the deadline the command is
 * broken off, and not repeated.
 */
export function write<W extends Work<unknown>>(
  client: MongoClient,
  deadline: Deadline,
  work: FencedWork<W>,
): Promise<Awaited<ReturnType<W>>>;
export async function write<T>(client: MongoClient, deadline: Deadline, work: Work<T>): Promise<T> {
  const primary = primaryOf(client);
  primary.require();
  requireTime(deadline);
  const { signal } = deadline;
  const fence = { $expr: { $lt: ["$$NOW", primary.databaseTime(deadline.at)] } };
  // MongoDB evaluates the fence when a command begins. Without a limit, a command that stalls later would still write.
  const options = { signal, maxTimeMS: leftMs(deadline) };
  const result = await timedCommand(deadline.tally, "mongodb write", () => work(options, fence)).catch(
    async (error: unknown) => {
      if (error instanceof TooLate) failTooLate(deadline);
      // A bulk write has its own error around the reason, and MongoDB's own limit can end a command first.
      if (signal.aborted || !isVerdict(error)) requireTime(deadline);
      if (duplicateIndex(error) !== undefined) await primary.safe(deadline);
      throw error;
    },
  );
  await primary.safe(deadline);
  return result;
}

/** For a write that its fence has rejected. */
export function failTooLate({ reason }: Pick<Deadline, "reason">): never {
  return fail(reason, { because: "deadline", waitingFor: "mongodb write" });
}

const known = new WeakMap<MongoClient, Collection<ClaimDocument>>();

/** Made once: the driver takes longer to make it than for a command. */
function claimsOf(client: MongoClient): Collection<ClaimDocument> {
  const claims = known.get(client) ?? client.db().collection<ClaimDocument>(collections.claims);
  known.set(client, claims);
  return claims;
}

/**
 * Does the work in one majority transaction; the work is done again where it collided with another, until the deadline.
 * It resolves as `write` does. Where the work fails, what it has read is on a majority too.
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
      const endTally = tallySession(session.id, deadline.tally);
      const { signal } = deadline;
      const end = (): void => endSession(client, session);
      signal.addEventListener("abort", end, { once: true });
      try {
        const result = await transact(session, deadline, () => work(session)).finally(() =>
          signal.removeEventListener("abort", end),
        );
        await primary.safe(deadline);
        return result;
      } catch (error) {
        if (isVerdict(error)) await settle(client, session, term);
        throw error;
      } finally {
        endTally();
      }
    }),
  );
}

/**
 * Ends what a transaction still does: an ended session sends nothing more, neither a commit that waits for a server nor
 * the driver's own retry of one. What is open in MongoDB is ended there, if it can be reached.
 */
function endSession(client: MongoClient, session: ClientSession): void {
  session.hasEnded = true;
  // The driver skips this for a session that has ended, and would keep it until the client is closed.
  session.emit("ended", session);
  void client
    .db("admin")
    .command({ killSessions: [{ id: session.id?.id }] })
    .catch(() => undefined);
}

/**
 * Whether an error says something of what a transaction has read: such as that there is no record, or that an email is
 * taken.
 */
function isVerdict(error: unknown): boolean {
  return (error instanceof Failure && !isGivenUp(error)) || duplicateIndex(error) !== undefined;
}

/**
 * A transaction reads the newest, which may yet be undone, and only its commit would show it. One that fails is not
 * committed:
 * resolves when a majority has what it read, and fails with UNAVAILABLE where that cannot be known.
 */
async function settle(client: MongoClient, { operationTime }: ClientSession, term: Term): Promise<void> {
  const readConcern = { level: "majority", ...(operationTime && { afterClusterTime: operationTime }) };
  await client
    .db()
    .command({ find: collections.switches, limit: 1, singleBatch: true, readConcern, maxTimeMS: commandLimitMs });
  primaryOf(client).confirm(term);
}

/**
 * Inserts by an upsert that matches nothing, because only an update can take `created_at` from the database's clock, by
 * which the 24 hours are counted.
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
 * Runs a transaction, again as long as MongoDB says that trying again is safe: the work after a transient error, the
 * commit alone while its result is unknown. Nothing is tried again after the deadline: the caller has its response by
 * then.
 */
async function transact<T>(session: ClientSession, deadline: Deadline, work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    requireTime(deadline);
    session.startTransaction({ readConcern: { level: "snapshot" }, writeConcern: { w: "majority" } });
    try {
      const result = await work();
      requireTime(deadline);
      await commitTransaction(session, deadline);
      return result;
    } catch (error) {
      if (session.inTransaction()) await session.abortTransaction().catch(() => undefined);
      if (!(hasLabel(error, "TransientTransactionError") || isCutOff(error)) || isPast(deadline)) throw error;
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
      if (!isUnsettled(error) || isPast(deadline)) throw error;
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
