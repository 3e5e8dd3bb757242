// An abandoned restore: what it has written can be erased, and nothing more is added.
import { randomUUID } from "node:crypto";
import { BSON, UUID } from "mongodb";
import type { Document } from "mongodb";
import { expect, test } from "vitest";
import { newContact } from "../../src/contacts/write.ts";
import { cleaned, leftOf, useErasing } from "../accounts/erasing.ts";

const { service, admin, traces } = useErasing();

const contact = (accountId: string): Document =>
  newContact(UUID.createFromHexString(accountId), { full_name: "Ann Lee" });

/** Restores a batch with one contact, which is not the last one of the account. */
function restoreOne(accountId: string, backup: string, checkOnly = false) {
  const documents = [
    { collection: "contacts", bson: Buffer.from(BSON.serialize(contact(accountId))).toString("base64") },
  ];
  return service().internalCall("records.admin.v1.BackupService/RestoreDocuments", {
    backup_id: backup,
    account_id: accountId,
    documents,
    check_only: checkOnly,
  });
}

test("deleting a partly restored account erases what the restore has written [ADM-04, OPS-62]", async () => {
  const [id, backup] = [randomUUID(), randomUUID()];
  expect((await restoreOne(id, backup)).status).toBe(200);
  expect(await traces(id)).toEqual(["contacts", "restores"]);
  const { status, body } = await admin("DeleteAccount", { account_id: id, reason: "the backup is lost" });
  expect([status, body]).toEqual([200, { ...cleaned, reason: "the backup is lost" }]);
  expect(leftOf(body)).toEqual({});
  expect(await traces(id)).toEqual(["erasures"]);
  expect((await admin("DeleteAccount", { account_id: id })).body.erased).toBe(true);
});

test("a restore whose account is deleted meanwhile writes nothing more [ADM-04, OPS-62]", async () => {
  const [id, backup] = [randomUUID(), randomUUID()];
  await restoreOne(id, backup);
  await admin("DeleteAccount", { account_id: id });
  for (const [from, checkOnly] of [
    [backup, false],
    [backup, true],
    [randomUUID(), false],
  ] as const) {
    const { body } = await restoreOne(id, from, checkOnly);
    expect(body).toMatchObject({ code: "already_exists", message: expect.stringContaining("was deleted here") });
  }
  expect(await traces(id)).toEqual(["erasures"]);
});

test("a batch that is written while its account is deleted is erased with the rest, or not written [ADM-04, OPS-62]", async () => {
  const [id, backup] = [randomUUID(), randomUUID()];
  await restoreOne(id, backup);
  const { client } = service().app;
  const db = client.db();
  const deleting = await client.withSession(async (session) => {
    session.startTransaction({ readConcern: { level: "snapshot" }, writeConcern: { w: "majority" } });
    // What a batch does, up to its commit.
    await db
      .collection("restores")
      .updateOne({ _id: UUID.createFromHexString(id) as never }, { $inc: { batches: 1 } }, { session });
    await db.collection("contacts").insertOne(contact(id), { session });
    const response = admin("DeleteAccount", { account_id: id });
    const first = await Promise.race([response, new Promise((resolve) => setTimeout(resolve, 1_000, "waits"))]);
    expect(first).toBe("waits");
    await session.commitTransaction();
    return response;
  });
  expect(deleting.body.erased).toBe(true);
  expect(await traces(id)).toEqual(["erasures"]);
});

test("a complete restore of an account that is being deleted is not reported as complete [ADM-04, OPS-62]", async () => {
  const [id, backup] = [randomUUID(), randomUUID()];
  const _id = UUID.createFromHexString(id) as never;
  const db = service().app.client.db();
  // As an erasure leaves them until its last step.
  await db.collection("restores").insertOne({ _id, backup, begun_at: new Date(), batches: 1, done_at: new Date() });
  await db.collection("erasures").insertOne({ _id, begun_at: new Date(), identities: [], finished_at: new Date() });
  for (const checkOnly of [true, false]) {
    const { body } = await restoreOne(id, backup, checkOnly);
    expect(body).toMatchObject({ code: "already_exists", message: expect.stringContaining("was deleted here") });
  }
});

test("the deletion of an account can be repeated while the mark of its restore is not erased yet [ADM-04]", async () => {
  const id = (await admin("CreateAccount", { email: `${randomUUID()}@example.com` })).body.account.id as string;
  await admin("DeleteAccount", { account_id: id });
  const _id = UUID.createFromHexString(id) as never;
  await service().app.client.db().collection("restores").insertOne({ _id, backup: "a backup" });
  expect((await admin("DeleteAccount", { account_id: id })).body.erased).toBe(true);
  expect(await traces(id)).toEqual(["erasures"]);
});
