// Documents that no read can return, as an earlier release could restore them: lists report them, and work.
import { randomUUID } from "node:crypto";
import type { Document } from "mongodb";
import { ObjectId, UUID } from "mongodb";
import { expect, onTestFinished, test, vi } from "vitest";
import { deadlineIn } from "../../src/call/deadline.ts";
import { createEndedSessions } from "../../src/sign-in/ended-store.ts";
import { cli, cliJson, useFolder } from "../cli/cli.ts";
import { newClient, useService } from "../support/client.ts";

// A start of the program takes its time on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

const service = useService();
const folder = useFolder();

/** Inserts a document, and removes it after the test. */
async function insert(collection: string, document: Document): Promise<void> {
  const stored = service().app.client.db().collection(collection);
  await stored.insertOne(document);
  onTestFinished(async () => void (await stored.deleteOne({ _id: document["_id"] as never })));
}

const account = (): Document & { readonly id: string } => {
  const id = randomUUID();
  const email = `${id}@example.com`;
  return {
    id,
    _id: UUID.createFromHexString(id),
    email,
    email_key: email,
    beta_enrolled: true,
    created_at: new Date(),
  };
};

test.each<[string, Document]>([
  ["a text as its creation", { created_at: "2026-11-28" }],
  ["a number as its email", { email: 5 }],
  ["no creation", { created_at: undefined }],
  ["a text as its enrolment", { beta_enrolled: "yes" }],
  ["a number as its suspension", { suspension: 5 }],
  ["a number as an issuer", { identities: [{ issuer: 5, subject: "s" }] }],
  ["a text as its identities", { identities: "abc" }],
])("an account with %s is listed by its id, and can be deleted by id [OPS-04, OPS-62]", async (_what, damage) => {
  const sound = await newClient(service());
  const { id, ...document } = account();
  await insert("accounts", { ...document, ...damage });
  const admin = (rpc: string, message: Document) =>
    service().internalCall(`records.admin.v1.AccountService/${rpc}`, message);
  const { accounts } = (await admin("ListAccounts", { limit: 1_000 })).body as { accounts: Document[] };
  expect(accounts).toContainEqual({ id, unreadable: true });
  expect(accounts).toContainEqual(expect.objectContaining({ id: sound.id, email: expect.any(String) }));
  expect((await admin("GetAccount", { account_id: id })).body).toEqual({ account: { id, unreadable: true } });
  expect((await admin("DeleteAccount", { account_id: id })).body).toMatchObject({ erased: true });
});

test("the command line reports an account and a change that cannot be read, and deletes the account by its email [OPS-04, OPS-62]", async () => {
  await newClient(service());
  const { id, ...document } = account();
  await insert("accounts", { ...document, email: 5 });
  await insert("switch_changes", { _id: new ObjectId(), at: "y", changed_at: new Date() });
  const line = `The document of account ${id} can't be read. Repair it in MongoDB, or delete the account: records account delete ${id}`;
  const listed = await cli(service(), ["account", "list"]);
  expect([listed.code, listed.stdout]).toEqual([0, expect.stringContaining(line)]);
  expect((await cliJson(service(), ["account", "list"])).unreadable).toEqual([id]);
  expect(await cliJson(service(), ["status"])).toMatchObject({ unreadable_accounts: [id] });
  expect((await cli(service(), ["interface", "log"])).stdout).toContain(
    "Left out, because they can't be read: 1 change.",
  );
  const exported = await cliJson(service(), ["export", "--all", folder.path("backup")], { code: 1 });
  expect(exported).toMatchObject({ unreadable: [id], accounts: expect.any(Number) });
  expect(exported.accounts).toBeGreaterThan(0);
  const restored = await cli(service(), ["restore", folder.path("backup")]);
  expect([restored.code, restored.stderr]).toEqual([1, expect.stringContaining("This account exists already")]);
  const deleted = await cliJson(service(), ["account", "delete", document["email_key"] as string, "--yes"]);
  expect(deleted).toMatchObject({ account_id: id, email: null, erased: true });
  expect((await cliJson(service(), ["account", "list"])).unreadable).toEqual([]);
});

test.each([["x"], [null], [5]])(
  "an end of sessions whose time is %s ends every sign-in until now, and none later [OAU-15, OPS-62]",
  async (time) => {
    const [issuer, subject] = ["https://id.example.com", randomUUID()];
    await insert("ended_sessions", { _id: { issuer, subject }, ended_at: time });
    const warn = vi.fn();
    const ended = createEndedSessions(service().app.client.db(), warn);
    const seconds = Math.floor(Date.now() / 1_000);
    const endOf = (authenticatedAt: number) =>
      ended.endOf({ issuer, subject, authenticatedAt, sid: undefined }, deadlineIn(5_000));
    expect(await endOf(seconds + 3_600)).toEqual({ kind: "user", laterThan: Infinity });
    expect(await endOf(seconds - 1)).toMatchObject({ kind: "user", laterThan: expect.any(Number) });
    expect(await endOf(seconds + 3_600)).toBe(undefined);
    expect(warn).toHaveBeenCalledOnce();
  },
);
