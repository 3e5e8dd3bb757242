// The operator's side of accounts: they are made, listed, enrolled, and linked to users, on the internal listener
// alone.
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { useService } from "../support/client.ts";
import type { RestResponse } from "../fixtures/service/service.ts";
import { sendRequest } from "../fixtures/sign-in/fixture.ts";

const service = useService();
const admin = (rpc: string, message: unknown, headers?: Record<string, string>): Promise<RestResponse> =>
  service().internalCall(`records.admin.v1.AccountService/${rpc}`, message, headers);
const issuer = "https://id.example.com";

async function newAccount(email = `${randomUUID()}@example.com`): Promise<string> {
  return (await admin("CreateAccount", { email })).body.account.id as string;
}

/** Connect's JSON leaves out what has its default. */
async function identitiesOf(accountId: string): Promise<unknown> {
  return (await admin("GetAccount", { accountId })).body.account.identities ?? [];
}

test("an account is created, read, enrolled, and linked to a user [ADM-03]", async () => {
  const created = await admin("CreateAccount", { email: "Ann@Example.com" });
  expect(created.status).toBe(200);
  const { id, createdAt, ...rest } = created.body.account;
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(createdAt).toMatch(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/);
  expect(rest).toEqual({ email: "Ann@Example.com" });
  expect((await admin("GetAccount", { accountId: id })).body).toEqual(created.body);
  expect((await admin("SetBetaEnrolment", { accountId: id, enrolled: true })).body.account).toEqual({
    id,
    createdAt,
    email: "Ann@Example.com",
    betaEnrolled: true,
  });
  const linked = await admin("LinkIdentity", { accountId: id, issuer, subject: "ann" });
  const account = {
    id,
    createdAt,
    email: "Ann@Example.com",
    betaEnrolled: true,
    identities: [{ issuer, subject: "ann" }],
  };
  expect([linked.status, linked.body]).toEqual([200, { account }]);
  expect((await admin("GetAccount", { accountId: id.toUpperCase() })).body).toEqual({ account });
  expect(
    (await admin("SetBetaEnrolment", { accountId: id, enrolled: false })).body.account.betaEnrolled,
  ).toBeUndefined();
});

test("lists accounts page by page, the oldest first, with their identities [ADM-03]", async () => {
  const made = [await newAccount(), await newAccount(), await newAccount()];
  await admin("LinkIdentity", { accountId: made[1], issuer, subject: "listed" });
  const all = (await admin("ListAccounts", { limit: 1000 })).body.accounts as { id: string; identities?: unknown }[];
  expect(all.slice(-3).map(({ id }) => id)).toEqual(made);
  expect(all.at(-2)?.identities).toEqual([{ issuer, subject: "listed" }]);
  const page = await admin("ListAccounts", { limit: 2, offset: all.length - 3 });
  expect([page.body.accounts.map(({ id }: { id: string }) => id), page.body.hasMore]).toEqual([made.slice(0, 2), true]);
  const last = await admin("ListAccounts", { limit: 2, offset: all.length - 2 });
  expect([last.body.accounts.map(({ id }: { id: string }) => id), last.body.hasMore]).toEqual([
    made.slice(1),
    undefined,
  ]);
});

test("finds an account by its whole email in any case, whatever the page [ADM-03]", async () => {
  const id = await newAccount("Found.By@Example.com");
  await newAccount("not.found.by@example.com");
  for (const page of [{}, { limit: 1 }, { limit: 1, offset: 7 }]) {
    const { body } = await admin("ListAccounts", { email: "fOUND.BY@example.COM", ...page });
    expect([
      body.accounts.map((account: { id: string; email: string }) => [account.id, account.email]),
      body.hasMore,
    ]).toEqual([[[id, "Found.By@Example.com"]], undefined]);
  }
  for (const email of ["found.by", "found.by@example.co", "ound.by@example.com", ".*", ""])
    expect((await admin("ListAccounts", { email })).body, email).toEqual({});
  expect((await admin("ListAccounts", { email: "x".repeat(255) })).status).toBe(400);
});

test("an email belongs to one account, in any case [ADM-03]", async () => {
  await newAccount("once@example.com");
  const { status, body } = await admin("CreateAccount", { email: "ONCE@example.com" });
  expect([status, body.code, body.message]).toEqual([
    409,
    "already_exists",
    "email: another account already uses it. Use another email.",
  ]);
});

test("linking the same identity again changes nothing, and an account can have many identities [ADM-03]", async () => {
  const accountId = await newAccount();
  for (let time = 0; time < 2; time++)
    expect((await admin("LinkIdentity", { accountId, issuer, subject: "twice" })).status).toBe(200);
  expect(await identitiesOf(accountId)).toEqual([{ issuer, subject: "twice" }]);
  await admin("LinkIdentity", { accountId, issuer: "https://other.example.com", subject: "twice" });
  await admin("LinkIdentity", { accountId, issuer, subject: "Twice" });
  expect(await identitiesOf(accountId)).toEqual([
    { issuer, subject: "twice" },
    { issuer: "https://other.example.com", subject: "twice" },
    { issuer, subject: "Twice" },
  ]);
});

test("an identity belongs to one account: linking it to a second one is rejected and changes nothing [ADM-03]", async () => {
  const [first, second] = [await newAccount(), await newAccount()];
  await admin("LinkIdentity", { accountId: first, issuer, subject: "taken" });
  const { status, body } = await admin("LinkIdentity", { accountId: second, issuer, subject: "taken" });
  expect([status, body.code, body.message]).toEqual([
    409,
    "already_exists",
    "subject: this identity is already linked to another account. Check the issuer and the subject.",
  ]);
  expect([await identitiesOf(first), await identitiesOf(second)]).toEqual([[{ issuer, subject: "taken" }], []]);
  // The issuer and the subject are one name only together.
  expect((await admin("LinkIdentity", { accountId: second, issuer, subject: "taken2" })).status).toBe(200);
  expect((await admin("LinkIdentity", { accountId: second, issuer: `${issuer}/`, subject: "taken" })).status).toBe(200);
});

test("exactly one of many accounts is linked to one identity at the same time [ADM-03]", async () => {
  for (let round = 0; round < 5; round++) {
    const ids = await Promise.all(Array.from({ length: 6 }, () => newAccount()));
    const responses = await Promise.all(
      ids.map((accountId) => admin("LinkIdentity", { accountId, issuer, subject: `race-${round}` })),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
    expect((await Promise.all(ids.map(identitiesOf))).flat()).toEqual([{ issuer, subject: `race-${round}` }]);
  }
});

test.each(["GetAccount", "SetBetaEnrolment", "LinkIdentity"])(
  "%s of an unknown account is NOT_FOUND [ADM-03]",
  async (rpc) => {
    const { status, body } = await admin(rpc, {
      accountId: randomUUID(),
      ...(rpc === "LinkIdentity"
        ? { issuer, subject: "nobody" }
        : rpc === "SetBetaEnrolment"
          ? { enrolled: true }
          : {}),
    });
    expect([status, body.code, body.message]).toEqual([
      404,
      "not_found",
      "There is no such account. Check the id: records account list shows all accounts.",
    ]);
  },
);

test("an invalid call is rejected and changes nothing [ADM-03]", async () => {
  const accountId = await newAccount();
  for (const message of [
    { accountId, issuer },
    { accountId, subject: "x" },
    { accountId, issuer: "", subject: "x" },
    { accountId, issuer, subject: "" },
    { issuer, subject: "x" },
    { accountId: "x", issuer, subject: "x" },
    { accountId, issuer, subject: "x".repeat(256) },
    { accountId, issuer: "x".repeat(501), subject: "x" },
    { accountId, issuer, subject: { $ne: "" } },
  ])
    expect([(await admin("LinkIdentity", message)).status, message]).toEqual([400, message]);
  expect(await identitiesOf(accountId)).toEqual([]);
  for (const email of ["", "ann", "ann@", "@example.com", "a nn@example.com", `${"x".repeat(250)}@example.com`])
    expect((await admin("CreateAccount", { email })).status).toBe(400);
});

test("the operator's calls require the service token, and are not on the public listener [ADM-03]", async () => {
  const accountId = await newAccount();
  for (const headers of [
    { Authorization: "" },
    { Authorization: "Bearer wrong" },
    { Authorization: `Bearer ${(await service().account()).key}` },
  ]) {
    expect((await admin("LinkIdentity", { accountId, issuer, subject: "thief" }, headers)).status).toBe(401);
  }
  for (const rpc of [
    "CreateAccount",
    "GetAccount",
    "ListAccounts",
    "SetBetaEnrolment",
    "LinkIdentity",
    "DeleteAccount",
  ]) {
    const path = `/records.admin.v1.AccountService/${rpc}`;
    const headers = { "Content-Type": "application/json", Authorization: `Bearer ${service().serviceToken}` };
    expect((await sendRequest(service().base + path, { method: "POST", headers, body: "{}" })).status).toBe(404);
  }
  expect(await identitiesOf(accountId)).toEqual([]);
});
