// Transactions, commits and single writes: they are tried again where that is safe, and end at their deadline.
import { randomUUID } from "node:crypto";
import type { ClientSession } from "mongodb";
import type { MongoClient } from "mongodb";
import { Binary, MongoNetworkError, MongoServerError, UUID } from "mongodb";
import { describe, expect, test, vi } from "vitest";
import { mongoFailureOf } from "../../src/db/mongo.ts";
import { primaryOf } from "../../src/db/primary.ts";
import type { Fence, WriteOptions } from "../../src/db/write.ts";
import { ClaimTaken, commit, transaction, write } from "../../src/db/write.ts";
import type { Deadline } from "../../src/call/deadline.ts";
import { deadlineIn } from "../../src/call/deadline.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import type { WriteScope } from "../../src/call/scope.ts";
import { grantWrites, readScope } from "../../src/call/scope.ts";
import { listenToMongo } from "../fixtures/databases/commands.ts";
import { useOwnDatabase } from "../support/own-database.ts";

let client: MongoClient;
useOwnDatabase((opened) => {
  client = opened;
});

const soon = (ms = 30_000): Deadline => deadlineIn(ms);

function labelled(label: string): MongoServerError {
  return new MongoServerError({ message: label, code: 112, errorLabels: [label] });
}

/** Ended under a command, as by `abandoned.ts`: no label says so. */
const interrupted = new MongoServerError({ message: "interrupted", code: 11601 });
/** Of a connection of a pool that was cleared before: the driver adds no label. */
const broken = new MongoNetworkError("closed");
const other = new MongoServerError({ message: "other", code: 11600 });
const transient = labelled("TransientTransactionError");
const unknown = labelled("UnknownTransactionCommitResult");

describe("a transaction", () => {
  const notes = () => client.db().collection("things");

  test.each([
    ["a transient error", transient],
    ["an interrupted command", interrupted],
    ["a broken connection", broken],
  ])("is restarted after %s, and writes nothing of the first attempt", async (_what, error) => {
    const name = randomUUID();
    let attempts = 0;
    const result = await transaction(client, soon(), async (session) => {
      await notes().insertOne({ name }, { session });
      if (++attempts < 3) throw error;
      return "done";
    });
    expect([result, attempts, await notes().countDocuments({ name })]).toEqual(["done", 3, 1]);
  });

  test("reads one state of the data, and is committed once a majority has its writes [CON-01]", async () => {
    const listening = listenToMongo(client);
    await transaction(client, soon(), (session) => notes().insertOne({ name: randomUUID() }, { session }));
    expect(listening.stop().map(({ command }) => command)).toMatchObject([
      { insert: "things", readConcern: { level: "snapshot" } },
      { commitTransaction: 1, writeConcern: { w: "majority" } },
    ]);
  });

  test.each([other, new Error("of its own"), unknown])(
    "is not restarted after another failure, and writes nothing: %s",
    async (error) => {
      const name = randomUUID();
      let attempts = 0;
      await expect(
        transaction(client, soon(), async (session) => {
          attempts++;
          await notes().insertOne({ name }, { session });
          throw error;
        }),
      ).rejects.toBe(error);
      expect([attempts, await notes().countDocuments({ name })]).toEqual([1, 0]);
    },
  );

  function failCommits(session: ClientSession, times: number, error: Error): void {
    const real = session.commitTransaction.bind(session);
    let left = times;
    session.commitTransaction = () => (left-- > 0 ? Promise.reject(error) : real());
  }

  test.each([unknown, interrupted, broken])(
    "repeats a commit with an unknown result, but not its work: %s",
    async (error) => {
      const name = randomUUID();
      let attempts = 0;
      await transaction(client, soon(), async (session) => {
        if (++attempts === 1) failCommits(session, 2, error);
        await notes().insertOne({ name }, { session });
      });
      expect([attempts, await notes().countDocuments({ name })]).toEqual([1, 1]);
    },
  );

  test("is repeated as a whole if its commit meets a transient error, and not if the commit fails otherwise", async () => {
    const name = randomUUID();
    let attempts = 0;
    const work =
      (error: Error) =>
      async (session: ClientSession): Promise<void> => {
        if (++attempts === 1) failCommits(session, 1, error);
        await notes().insertOne({ name }, { session });
      };
    await transaction(client, soon(), work(transient));
    expect([attempts, await notes().countDocuments({ name })]).toEqual([2, 1]);
    attempts = 0;
    await expect(transaction(client, soon(), work(other))).rejects.toBe(other);
    expect([attempts, await notes().countDocuments({ name })]).toEqual([1, 1]);
  });

  test.each([
    ["its work", (session: ClientSession) => void session],
    ["its commit", (session: ClientSession) => failCommits(session, Number.POSITIVE_INFINITY, unknown)],
  ])("does not repeat %s after the deadline: the caller has its response", async (what, prepare) => {
    const deadline = { ...soon(), at: performance.now() + 60_000 };
    let tries = 0;
    const failed = transaction(client, deadline, async (session) => {
      prepare(session);
      const real = session.commitTransaction;
      const attempt = (): void => {
        if (++tries === 3) deadline.at = performance.now();
      };
      session.commitTransaction = () => {
        attempt();
        return real.call(session);
      };
      if (what !== "its work") return;
      attempt();
      throw transient;
    });
    await expect(failed).rejects.toBe(what === "its work" ? transient : unknown);
    expect(tries).toBe(3);
  });

  test("does not commit work that ended too late", async () => {
    const name = randomUUID();
    const deadline = { ...soon(), at: performance.now() + 60_000 };
    const failed = transaction(client, deadline, async (session) => {
      await notes().insertOne({ name }, { session });
      deadline.at = performance.now();
    });
    await expect(failed).rejects.toMatchObject({ reason: Reason.UNAVAILABLE });
    expect(await notes().countDocuments({ name })).toBe(0);
  });
});

describe("a commit", () => {
  test("uses no transaction for one document, and one for several", async () => {
    const scope = grantWrites(readScope(new UUID(), soon()));
    const within = (options?: { atomic: boolean }) =>
      commit(client, scope, undefined, ({ session }, _fence) => Promise.resolve(session?.inTransaction()), options);
    expect([await within(), await within({ atomic: false }), await within({ atomic: true })]).toEqual([
      undefined,
      undefined,
      true,
    ]);
  });

  test("does nothing in a scope without the right to write", async () => {
    const work = vi.fn((_options: WriteOptions, _fence: Fence) => Promise.resolve());
    await expect(
      commit(client, { ...readScope(new UUID(), soon()), claim: undefined } as never, undefined, work),
    ).rejects.toMatchObject({ reason: Reason.ACCESS_DENIED });
    expect(work).not.toHaveBeenCalled();
  });

  /** A claim whose values would mean something else, were they not taken as they are. */
  function claimed(key: string): { readonly scope: WriteScope; readonly account_id: UUID } {
    const account_id = new UUID();
    const bytes = new Binary(Buffer.from("f"));
    return {
      account_id,
      scope: grantWrites(readScope(account_id, soon()), {
        document: () => ({ _id: { account_id, key }, fingerprint: bytes, message: bytes, body: "$created_at" }),
      }),
    };
  }

  test("stores the claim with the write, by the database's clock, and does nothing if the claim exists", async () => {
    const { scope, account_id } = claimed("k");
    const work = vi.fn(({ session }: WriteOptions, _fence: Fence) => Promise.resolve(session?.inTransaction()));
    expect(await commit(client, scope, {} as never, work)).toBe(true);
    expect(await client.db().collection("idempotency").findOne({ "_id.account_id": account_id })).toMatchObject({
      _id: { key: "k" },
      body: "$created_at",
      created_at: expect.any(Date) as unknown,
    });
    await expect(commit(client, scope, {} as never, work)).rejects.toBeInstanceOf(ClaimTaken);
    expect(work).toHaveBeenCalledTimes(1);
  });

  test("stores no claim for a write without a response to repeat", async () => {
    const { scope, account_id } = claimed("k");
    await commit(client, scope, undefined, (_options, _fence) => Promise.resolve());
    expect(await client.db().collection("idempotency").countDocuments({ "_id.account_id": account_id })).toBe(0);
    await commit(client, grantWrites(readScope(account_id, soon())), {} as never, () => Promise.resolve(), {
      atomic: true,
    });
  });

  test("fails with the database's error if its claim cannot be stored, and does nothing", async () => {
    const work = vi.fn((_options: WriteOptions, _fence: Fence) => Promise.resolve());
    // A key that MongoDB does not allow in a document.
    const claim = { document: () => ({ _id: { account_id: new UUID(), $key: 1 } }) as never };
    await expect(
      commit(client, grantWrites(readScope(new UUID(), soon()), claim), {} as never, work),
    ).rejects.toBeInstanceOf(MongoServerError);
    expect(work).not.toHaveBeenCalled();
  });
});

test("a transaction that its deadline ends leaves no session open", async () => {
  const { activeSessions } = (client as unknown as { s: { activeSessions: Set<ClientSession> } }).s;
  const deadline = soon(50);
  const ended = transaction(client, deadline, async (session) => {
    await client.db().collection("things").insertOne({}, { session });
    expect(activeSessions).toContain(session);
    await new Promise((resolve) => deadline.signal.addEventListener("abort", resolve));
  });
  await expect(ended).rejects.toMatchObject({ reason: Reason.UNAVAILABLE });
  expect([...activeSessions].filter(({ hasEnded }) => hasEnded)).toEqual([]);
});

test.each([
  ["the service's", () => soon(200), Reason.UNAVAILABLE],
  ["its caller's", () => deadlineIn(30_000, { expiresAt: performance.now() + 200 }), Reason.DEADLINE_EXCEEDED],
])("a bulk write that reaches the deadline fails for it: %s [OPS-15]", async (_whose, deadline, reason) => {
  const notes = client.db().collection<{ _id: UUID; a: number }>("things");
  const _id = new UUID();
  await notes.insertOne({ _id, a: 0 });
  await client.withSession(async (session) => {
    session.startTransaction();
    // A write outside the transaction waits for its end.
    await notes.updateOne({ _id }, { $set: { a: 1 } }, { session });
    const update = { updateOne: { filter: { _id }, update: { $set: { a: 2 } } } };
    const late = write(client, deadline(), (options, _fence) => notes.bulkWrite([update], options));
    // MongoDB breaks it off, or the driver: whichever reaches the deadline first.
    expect(mongoFailureOf(await late.catch((error: unknown) => error)).reason).toBe(reason);
    await session.abortTransaction();
  });
});

describe("a response waits until no instance can read from the previous primary", () => {
  /** Whether the write has ended before its primary is safe, and after. */
  async function endsOf(begin: () => Promise<unknown>): Promise<readonly [before: boolean, after: string]> {
    const primary = primaryOf(client);
    let letGo = (): void => undefined;
    const isSafe = new Promise<void>((resolve) => (letGo = resolve));
    const safe = vi.spyOn(primary, "waitUntilDurable").mockReturnValue(isSafe);
    try {
      let ended = false;
      const outcome = begin()
        .then(
          () => "done",
          (error: unknown) => (error instanceof MongoServerError ? `code ${error.code}` : String(error)),
        )
        .finally(() => (ended = true));
      await expect.poll(() => safe.mock.calls.length).toBe(1);
      await new Promise(setImmediate);
      const before = ended;
      letGo();
      return [before, await outcome];
    } finally {
      safe.mockRestore();
    }
  }

  test("after a write, after one that meets a duplicate, and after a transaction [CON-02, CON-04]", async () => {
    const notes = client.db().collection<{ _id: string }>("things");
    const [_id, other] = [randomUUID(), randomUUID()];
    const insert = () => write(client, soon(), (options, _fence) => notes.insertOne({ _id }, options));
    expect(await endsOf(insert)).toEqual([false, "done"]);
    expect(await endsOf(insert)).toEqual([false, "code 11000"]);
    const inTransaction = () => transaction(client, soon(), (session) => notes.insertOne({ _id: other }, { session }));
    expect(await endsOf(inTransaction)).toEqual([false, "done"]);
  });
});
