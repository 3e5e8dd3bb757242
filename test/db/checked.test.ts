// The right to write is checked before every write and every attempt of one: writes may be paused in between.
import { randomUUID } from "node:crypto";
import type { MongoClient } from "mongodb";
import { MongoServerError, UUID } from "mongodb";
import { expect, test, vi } from "vitest";
import { useOwnDatabase } from "../support/own-database.ts";
import type { UnprovenCredential } from "../../src/call/scope.ts";
import { grantWrites, readScope } from "../../src/call/scope.ts";
import type { Fence, WriteOptions } from "../../src/db/write.ts";
import { commit } from "../../src/db/write.ts";
import { deadlineIn } from "../../src/call/deadline.ts";
import { fail } from "../../src/call/errors.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";

let client: MongoClient;
useOwnDatabase((opened) => {
  client = opened;
});

const soon = () => deadlineIn(30_000);
const transient = new MongoServerError({ message: "collided", code: 112, errorLabels: ["TransientTransactionError"] });

test("a transaction that is repeated checks the right to write again, and has written nothing [ERR-16]", async () => {
  const name = randomUUID();
  let isPaused = false;
  const scope = grantWrites(readScope(new UUID(), soon()), undefined, () => isPaused && fail(Reason.WRITES_PAUSED));
  const things = client.db().collection("things");
  const collide = async (options: WriteOptions): Promise<void> => {
    await things.insertOne({ name }, options);
    isPaused = true;
    throw transient;
  };
  const rejected = { reason: Reason.WRITES_PAUSED };
  await expect(commit(client, scope, undefined, collide, { atomic: true })).rejects.toMatchObject(rejected);
  expect(await things.countDocuments({ name })).toBe(0);
});

test.each([true, false])(
  "if a later write of several is paused, the reason says that the first may be done; atomic: %j [ERR-16]",
  async (atomic) => {
    let isPaused = false;
    const recheck = (): void => void (isPaused && fail(Reason.WRITES_PAUSED));
    const scope = grantWrites(readScope(new UUID(), soon()), undefined, recheck);
    const work = async (_options: WriteOptions, _fence: Fence): Promise<void> => void (isPaused = true);
    await commit(client, scope, undefined, work, { atomic });
    await expect(commit(client, scope, undefined, work, { atomic })).rejects.toMatchObject({
      reason: Reason.UNAVAILABLE,
      because: "WRITES_PAUSED",
      message: expect.stringContaining("may be done"),
    });
  },
);

test("writes nothing if writes are paused while the credential is verified [ERR-16]", async () => {
  let isPaused = false;
  const work = vi.fn((_options: WriteOptions, _fence: Fence) => Promise.resolve());
  const prove = async (): Promise<void> => void (isPaused = true);
  const unproven = { proven: false, prove } as unknown as UnprovenCredential;
  const recheck = (): void => void (isPaused && fail(Reason.WRITES_PAUSED));
  const scope = grantWrites(readScope(new UUID(), soon(), unproven), undefined, recheck);
  await expect(commit(client, scope, undefined, work)).rejects.toMatchObject({ reason: Reason.WRITES_PAUSED });
  expect(work).not.toHaveBeenCalled();
});
