// The operator's actions on keys and sessions, and their entries in the audit log and in an erasure.
import { createHash, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { UUID } from "mongodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Holder } from "../mcp/tools/set-up.ts";
import { holderOf, request } from "../mcp/tools/set-up.ts";
import { ann } from "../fixtures/sign-in/users.ts";
import { auditOf, ownerStatus, sessionCount, signIn, useSignInFixture } from "../fixtures/sign-in/fixture.ts";
import { newUser } from "../support/user.ts";
import { hashSecret } from "../../src/api-keys/secret.ts";
import type { TestService } from "../fixtures/service/service.ts";

const fixture = useSignInFixture();
let second: TestService;
let holder: Holder;

beforeAll(async () => {
  second = await fixture().service.another({ BASE_URL: fixture().base });
  holder = await holderOf(fixture());
});
afterAll(() => second.stop());

const admin = (rpc: string, message: object) =>
  fixture().service.internalCall(`records.admin.v1.AccountService/${rpc}`, message);
const keyStatuses = (key: string) =>
  Promise.all(
    [fixture().service, second].map(async (service) => (await service.rest("/v1/sessions?limit=1", { key })).status),
  );
const token = () => createHash("sha256").update(fixture().service.serviceToken).digest("hex").slice(0, 8);

test("revokes a key of any account by its prefix or its id, on every instance; its owner sees who revoked it and why [OPS-34, OPS-36]", async () => {
  const { service } = fixture();
  const user = await newUser(service);
  for (const byId of [false, true]) {
    const { key, id } = (await user.call("/v1/api-key", { method: "POST" })).body.data as { key: string; id: string };
    expect(await keyStatuses(key)).toEqual([200, 200]);
    const { body } = await admin("RevokeApiKey", {
      key: byId ? id.toUpperCase() : key.slice(0, 8),
      reason: "in a public repository",
    });
    expect(body).toEqual({
      keyId: id,
      prefix: key.slice(0, 8),
      accountId: user.accountId,
      revokedAt: expect.stringMatching(/Z$/),
    });
    expect(await keyStatuses(key)).toEqual([401, 401]);
    // Again: nothing changes.
    expect((await admin("RevokeApiKey", { key: id, reason: "again" })).body).toEqual(body);
  }
  const entries = (
    await service.app.services.audit.list(
      UUID.createFromHexString(user.accountId ?? ""),
      { limit: 10, offset: 0 },
      undefined,
    )
  ).filter(({ event }) => event === "key_revoked");
  expect(entries).toHaveLength(2);
  expect(entries[0]).toMatchObject({
    detail: "By the operator: in a public repository",
    person: `operator (token ${token()})`,
    key_prefix: expect.stringMatching(/^rec_/),
  });
});

test("an unknown key is 404; a prefix of several keys, one of them active, and a whole key are rejected; none is revoked [OPS-34]", async () => {
  const { service } = fixture();
  expect((await admin("RevokeApiKey", { key: randomUUID(), reason: "none" })).status).toBe(404);
  const [one, other] = [await service.account(), await service.account()];
  await service.app.client
    .db()
    .collection("api_keys")
    .updateMany({ _id: { $in: [one, other].map(({ key }) => hashSecret(key)) } } as never, {
      $set: { prefix: "rec_same" },
    });
  const several = await admin("RevokeApiKey", { key: "rec_same", reason: "which?" });
  const begin = "key: must match one key: 2 keys begin with it";
  expect([several.status, several.body.message]).toEqual([400, `${begin}, 2 of them active`]);
  expect((await admin("RevokeApiKey", { key: one.key, reason: "whole" })).status).toBe(400);
  expect(await keyStatuses(one.key)).toEqual([200, 200]);
  // The operator may mean the one that is revoked already.
  await service.app.services.apiKeys.revoke(new UUID(other.id));
  const { status, body } = await admin("RevokeApiKey", { key: "rec_same", reason: "which?" });
  expect([status, body.message]).toEqual([400, `${begin}, 1 of them active`]);
  expect(await keyStatuses(one.key)).toEqual([200, 200]);
});

test("a suspended account's key can be revoked, and stays revoked when the account is resumed [OPS-33, OPS-34]", async () => {
  const { id, key } = await fixture().service.account();
  await admin("SuspendAccount", { account_id: id, reason: "leak" });
  expect((await admin("RevokeApiKey", { key: key.slice(0, 8), reason: "leak" })).status).toBe(200);
  expect(await keyStatuses(key)).toEqual([401, 401]);
  await admin("ResumeAccount", { account_id: id, reason: "leak" });
  expect(await keyStatuses(key)).toEqual([401, 401]);
});

test("rejects a key that an earlier release issued to a suspended account, once the account is suspended again [OPS-33]", async () => {
  const { id, key } = await fixture().service.account();
  await admin("SuspendAccount", { account_id: id, reason: "leak" });
  await fixture()
    .service.app.client.db()
    .collection("api_keys")
    .updateOne({ _id: hashSecret(key) } as never, { $unset: { suspended: "" } });
  expect(await keyStatuses(key)).toEqual([200, 200]);
  expect((await admin("SuspendAccount", { account_id: id, reason: "again" })).status).toBe(200);
  expect(await keyStatuses(key)).toEqual([403, 403]);
});

test("ends thousands of sessions of one user within one call [OPS-35]", async () => {
  const { service } = fixture();
  const user = await newUser(service);
  const sessions = service.app.client.db().collection("dashboard_sessions");
  const { _id, ...one } = (await sessions.findOne({ subject: user.subject })) ?? {};
  await sessions.insertMany(
    Array.from({ length: 2_000 }, (_, at) => ({ ...one, _id: `copy ${at}`, sid: `provider ${at}` })) as never,
  );
  expect((await admin("EndSessions", { account_id: user.accountId, reason: "a flood" })).body).toEqual({
    owners: 1,
    sessions: 2_001,
  });
  expect(await sessionCount(service, { subject: user.subject })).toBe(0);
});

test("ending the sessions of an account ends its dashboard sessions and access tokens on every instance, but no key; signing in again works [OPS-35, OPS-36]", async () => {
  const { base, service } = fixture();
  const assistant = async (at: TestService) =>
    (await request({ url: `${at.base}/mcp`, token: holder.token }, "2026-07-28", "tools/list")).status;
  const { cookie } = await signIn(fixture(), ann);
  const { cookie: another } = await signIn(fixture(), ann);
  const statuses = async () => [
    await ownerStatus(base, cookie),
    await ownerStatus(second.base, another),
    await assistant(service),
    await assistant(second),
  ];
  expect(await statuses()).toEqual([200, 200, 200, 200]);
  expect((await admin("EndSessions", { account_id: holder.accountId, reason: "a stolen laptop" })).body).toEqual({
    owners: 1,
    sessions: 2,
  });
  expect(await statuses()).toEqual([401, 401, 401, 401]);
  expect(await sessionCount(service, { subject: ann.subject })).toBe(0);
  expect(await keyStatuses(holder.key)).toEqual([200, 200]);
  // There is nothing left to end, which is not an error.
  expect((await admin("EndSessions", { account_id: holder.accountId, reason: "again" })).body).toEqual({ owners: 1 });
  expect((await admin("EndSessions", { account_id: randomUUID(), reason: "none" })).status).toBe(404);
  // The times of a provider are whole seconds: a sign-in in the same second could not be distinguished from one before.
  await sleep(2_200);
  const { cookie: fresh } = await signIn(fixture(), ann);
  expect(await ownerStatus(base, fresh)).toBe(200);
  const entries = (await auditOf(base, fresh)).filter(({ event }) => event === "sessions_ended");
  expect(entries.at(-1)).toMatchObject({
    event: "sessions_ended",
    detail: "By the operator: a stolen laptop",
    person: `operator (token ${token()})`,
  });
});

test("an erasure keeps who requested it and why for 90 days; later calls change neither [OPS-36, ADM-04]", async () => {
  const { id } = await fixture().service.account();
  const { body } = await admin("DeleteAccount", { account_id: id, reason: "the owner asked" });
  expect(body).toMatchObject({ erased: true, reason: "the owner asked", token: token() });
  expect((await admin("DeleteAccount", { account_id: id, reason: "another reason" })).body).toMatchObject({
    reason: "the owner asked",
    token: token(),
  });
  const erasure = await fixture()
    .service.app.client.db()
    .collection("erasures")
    .findOne({ _id: UUID.createFromHexString(id) as never });
  expect(erasure?.["requested"]).toEqual({
    reason: "the owner asked",
    token: token(),
    address: expect.any(String),
    request_id: expect.any(String),
  });
});
