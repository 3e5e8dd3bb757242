// The operator's changes of who can use an account: each is stored together with its entry in the audit log.
import { createHash, randomUUID } from "node:crypto";
import { UUID } from "mongodb";
import { expect, test } from "vitest";
import { asAdministrator } from "../fixtures/databases/database.ts";
import type { RestResponse } from "../fixtures/service/service.ts";
import { useService } from "../support/client.ts";
import { newUser } from "../support/user.ts";

const service = useService();
const issuer = "https://id.example.com";
const admin = (rpc: string, message: object, headers?: Record<string, string>): Promise<RestResponse> =>
  service().internalCall(`records.admin.v1.AccountService/${rpc}`, message, headers);
const newAccount = async (): Promise<string> =>
  (await admin("CreateAccount", { email: `${randomUUID()}@example.com` })).body.account.id as string;

/** The oldest first. */
async function entriesOf(id: string): Promise<unknown[]> {
  const { audit } = service().app.services;
  const found = await audit.list(UUID.createFromHexString(id), { limit: 100, offset: 0 }, undefined);
  return found.reverse().map(({ event, detail }) => [event, detail]);
}

const linked = (subject: string) => ["identity_linked", `Issuer: ${issuer}. Subject: ${subject}`];

test("the audit log has each link and enrolment with the resulting state, and no entry for a call that changes nothing [OPS-73]", async () => {
  const accountId = await newAccount();
  for (const subject of ["ann", "ann", "Ann"])
    expect((await admin("LinkIdentity", { accountId, issuer, subject })).status).toBe(200);
  for (const enrolled of [false, true, true, false, false])
    expect((await admin("SetBetaEnrolment", { accountId, enrolled })).status).toBe(200);
  expect(await entriesOf(accountId)).toEqual([
    linked("ann"),
    linked("Ann"),
    ["enrolment_changed", "Enrolled in the beta."],
    ["enrolment_changed", "Withdrawn from the beta."],
  ]);
});

test("the audit log shows the owner the service token, the address and the request of each change [OPS-73, DSH-03]", async () => {
  const user = await newUser(service());
  const accountId = user.accountId ?? "";
  await admin("SetBetaEnrolment", { accountId, enrolled: false }, { "X-Request-Id": "withdrawn" });
  await admin("LinkIdentity", { accountId, issuer, subject: "second" }, { "X-Request-Id": "linked" });
  const token = createHash("sha256").update(service().serviceToken).digest("hex").slice(0, 8);
  const by = { person: `operator (token ${token})`, address: "127.0.0.1", key_prefix: null };
  expect((await user.call("/v1/audit-log")).body.data).toMatchObject([
    { ...by, event: "identity_linked", request_id: "linked" },
    { ...by, event: "enrolment_changed", request_id: "withdrawn" },
  ]);
});

test("many identical calls at once write one entry [OPS-73]", async () => {
  const accountId = await newAccount();
  const calls = Array.from({ length: 6 }, () => [
    admin("LinkIdentity", { accountId, issuer, subject: `at once ${accountId}` }),
    admin("SetBetaEnrolment", { accountId, enrolled: true }),
  ]).flat();
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(calls.map(() => 200));
  const entries = await entriesOf(accountId);
  expect(entries).toHaveLength(2);
  expect(entries).toEqual(
    expect.arrayContaining([linked(`at once ${accountId}`), ["enrolment_changed", "Enrolled in the beta."]]),
  );
});

test("a rejected link writes no entry in either account [OPS-73]", async () => {
  const [first, second] = [await newAccount(), await newAccount()];
  await admin("LinkIdentity", { accountId: first, issuer, subject: "taken" });
  expect((await admin("LinkIdentity", { accountId: second, issuer, subject: "taken" })).status).toBe(409);
  const missing = randomUUID();
  expect((await admin("LinkIdentity", { accountId: missing, issuer, subject: "nobody's" })).status).toBe(404);
  expect((await admin("SetBetaEnrolment", { accountId: missing, enrolled: true })).status).toBe(404);
  expect([await entriesOf(first), await entriesOf(second), await entriesOf(missing)]).toEqual([
    [linked("taken")],
    [],
    [],
  ]);
});

test("links or enrols nothing if the audit entry cannot be stored [OPS-73]", async () => {
  const accountId = await newAccount();
  const before = (await admin("GetAccount", { accountId })).body;
  const validate = (validator: object): Promise<unknown> =>
    asAdministrator(service().administratorUri, (db) => db.command({ collMod: "audit_log", validator }));
  await validate({ event: { $nin: ["identity_linked", "enrolment_changed"] } });
  try {
    expect((await admin("LinkIdentity", { accountId, issuer, subject: "unseen" })).status).toBe(500);
    expect((await admin("SetBetaEnrolment", { accountId, enrolled: true })).status).toBe(500);
    expect((await admin("GetAccount", { accountId })).body).toEqual(before);
  } finally {
    await validate({});
  }
  expect((await admin("LinkIdentity", { accountId, issuer, subject: "unseen" })).status).toBe(200);
});
