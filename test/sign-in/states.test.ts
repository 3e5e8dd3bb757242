// Who is signed in but may do nothing yet: no account, no enrolment; and what the operator does about it takes effect
// at once.
import { describe, expect, test } from "vitest";
import { sessionSecret } from "../fixtures/service/service.ts";
import { createBrowser } from "../fixtures/sign-in/browser.ts";
import { storeSession } from "../fixtures/sign-in/stored-session.ts";
import { ann, ben, cleo } from "../fixtures/sign-in/users.ts";
import {
  auditOf,
  newOwner,
  ownerStatus,
  sendRequest,
  sessionCount,
  signIn,
  useSignInFixture,
} from "../fixtures/sign-in/fixture.ts";

const fixture = useSignInFixture();
const admin = (rpc: string, message: unknown) =>
  fixture().service.internalCall(`records.admin.v1.AccountService/${rpc}`, message);
const post = (cookie: string, headers: Record<string, string> = {}) =>
  sendRequest(`${fixture().base}/v1/api-key`, { method: "POST", cookie, origin: fixture().base, headers });

test("a user without an account sees the issuer and the subject to give to the operator, and can do nothing else [DSH-01]", async () => {
  const { page, cookie, browser } = await signIn(fixture(), cleo);
  expect(page.status).toBe(200);
  for (const shown of ["cleo@example.com", fixture().provider.issuer, "person-cleo"])
    expect(page.text).toContain(shown);
  expect(page.text).toContain("/sign-out");
  for (const [method, path] of [
    ["GET", "/v1/api-key"],
    ["POST", "/v1/api-key"],
    ["POST", "/v1/api-key/rotate"],
    ["DELETE", "/v1/api-key"],
    ["GET", "/v1/audit-log"],
  ] as const) {
    const { status, body } = await sendRequest(fixture().base + path, { method, cookie, origin: fixture().base });
    expect([status, body.error.code]).toEqual([403, "403"]);
  }
  expect((await browser.open(`${fixture().base}/`)).text).toContain("person-cleo");
});

test("the owner of a suspended account sees that it is suspended, with 403, and can sign out; a program gets the envelope [DSH-11]", async () => {
  const { cookie } = await signIn(fixture(), ann);
  const account = (await fixture().service.app.services.accounts.list(10, 0, undefined)).find(
    ({ email }) => email === ann.email,
  );
  const accountId = account?._id.toHexString() ?? "";
  await admin("SuspendAccount", { accountId, reason: "a leaked key" });
  try {
    const { base } = fixture();
    const page = await sendRequest(`${base}/`, { cookie, accept: "text/html" });
    expect([page.status, page.headers.get("content-type")]).toEqual([403, "text/html; charset=utf-8"]);
    for (const shown of [
      "The account is suspended.",
      ann.email,
      accountId,
      '<form class="account" method="post" action="/sign-out">',
    ])
      expect(page.text).toContain(shown);
    expect(page.headers.get("content-security-policy")).toContain(`form-action 'self' ${fixture().provider.issuer}`);
    expect(page.text).not.toContain("a leaked key");
    const program = await sendRequest(`${base}/`, { cookie });
    expect([program.status, program.body.error.code]).toEqual([403, "403"]);

    const out = await sendRequest(`${base}/sign-out`, { method: "POST", cookie, origin: base, accept: "text/html" });
    expect(out.status).toBe(303);
    expect((await sendRequest(`${base}/`, { cookie, accept: "text/html" })).text).toContain('href="/sign-in"');
  } finally {
    await admin("ResumeAccount", { accountId, reason: "all is well" });
  }
});

test("a sign-in without an account is in no audit log", async () => {
  const count = (): Promise<number> => fixture().service.app.client.db().collection("audit_log").countDocuments();
  const before = await count();
  const { cookie } = await signIn(fixture(), cleo, createBrowser());
  await sendRequest(`${fixture().base}/sign-out`, { method: "POST", cookie, origin: fixture().base });
  expect(await count()).toBe(before);
});

test("linking an identity admits the user at once, in the same session, on every instance [ADM-03]", async () => {
  const second = await fixture().service.another({ BASE_URL: fixture().base });
  try {
    const { cookie } = await signIn(fixture(), cleo);
    for (const base of [fixture().base, second.base]) expect(await ownerStatus(base, cookie)).toBe(403);
    const { body: created } = await admin("CreateAccount", { email: "cleo@example.com", betaEnrolled: true });
    const { status, body } = await admin("LinkIdentity", {
      accountId: created.account.id,
      issuer: fixture().provider.issuer,
      subject: "person-cleo",
    });
    expect([status, body.account.identities]).toEqual([
      200,
      [{ issuer: fixture().provider.issuer, subject: "person-cleo" }],
    ]);
    for (const base of [fixture().base, second.base]) {
      expect(await ownerStatus(base, cookie)).toBe(200);
      expect((await sendRequest(`${base}/`, { cookie })).text).not.toContain("person-cleo");
    }
    expect((await post(cookie)).status).toBe(201);
    expect(await auditOf(second.base, cookie)).toMatchObject([
      { event: "key_created", person: "cleo@example.com" },
      { event: "identity_linked", person: expect.stringMatching(/^operator /) },
    ]);
  } finally {
    await second.stop();
  }
});

test("a user who is not enrolled sees that, gets no key, and is admitted at once when enrolled, on every instance [ADM-03]", async () => {
  const second = await fixture().service.another({ BASE_URL: fixture().base });
  try {
    const { page, cookie } = await signIn(fixture(), ben);
    expect(page.text).toMatch(/not enrolled/i);
    expect((await signIn(fixture(), ann)).page.text).not.toMatch(/not enrolled/i);
    const rejected = await post(cookie);
    expect([rejected.status, rejected.body.error.message]).toEqual([
      403,
      "The account is not enrolled in the beta. Ask the operator of the service to enrol it.",
    ]);
    // Before anything that is wrong with the request, or missing in the account.
    const wrong = await sendRequest(`${fixture().base}/v1/api-key`, {
      cookie,
      origin: fixture().base,
      headers: { "Content-Type": "application/json" },
      body: '{"access":"nonsense"}',
    });
    const rotated = await sendRequest(`${fixture().base}/v1/api-key/rotate`, {
      method: "POST",
      cookie,
      origin: fixture().base,
    });
    expect([wrong.status, rotated.status]).toEqual([403, 403]);
    const accounts = (await admin("ListAccounts", {})).body.accounts as { id: string; email: string }[];
    const accountId = accounts.find(({ email }) => email === "ben@example.com")?.id;
    expect((await admin("SetBetaEnrolment", { accountId, enrolled: true })).body.account).toMatchObject({
      email: "ben@example.com",
      betaEnrolled: true,
    });
    for (const base of [fixture().base, second.base])
      expect((await sendRequest(`${base}/`, { cookie })).text).not.toMatch(/not enrolled/i);
    expect((await post(cookie)).status).toBe(201);
    expect((await admin("SetBetaEnrolment", { accountId, enrolled: false })).status).toBe(200);
    for (const base of [fixture().base, second.base])
      expect((await sendRequest(`${base}/`, { cookie })).text).toMatch(/not enrolled/i);
    // The account keeps its key, and can revoke it.
    expect((await sendRequest(`${fixture().base}/v1/api-key`, { cookie })).status).toBe(200);
    expect(
      (await sendRequest(`${fixture().base}/v1/api-key`, { method: "DELETE", cookie, origin: fixture().base })).status,
    ).toBe(200);
    expect((await post(cookie)).status).toBe(403);
  } finally {
    await second.stop();
  }
});

test("deleting an account ends its users' sessions [DSH-01]", async () => {
  const { app } = fixture().service;
  const { provider, base } = fixture();
  const cleoId =
    (await app.services.accounts.ofIdentity({ issuer: provider.issuer, subject: "person-cleo" }, undefined))?._id ??
    (await newOwner(fixture().service, provider.issuer, "person-cleo", "cleo2@example.com"));
  const { cookie } = await signIn(fixture(), cleo);
  expect(await ownerStatus(base, cookie)).toBe(200);
  expect((await admin("DeleteAccount", { accountId: cleoId.toHexString() })).status).toBe(200);
  expect([401, 403]).toContain(await ownerStatus(base, cookie));
  await expect.poll(() => sessionCount(fixture().service, { subject: "person-cleo" }), { timeout: 20_000 }).toBe(0);
});

describe("only our own page can make a change", () => {
  test.each<[string, Record<string, string>]>([
    ["without an Origin", {}],
    ["with the Origin null", { Origin: "null" }],
    ["with another site's Origin", { Origin: "https://evil.example" }],
    ["with our Origin, from another site", { Origin: "ours", "Sec-Fetch-Site": "cross-site" }],
    ["with our Origin, from a sibling site", { Origin: "ours", "Sec-Fetch-Site": "same-site" }],
    ["with our Origin, without a page", { Origin: "ours", "Sec-Fetch-Site": "none" }],
  ])("a request %s is 403", async (_name, headers) => {
    const { cookie } = await signIn(fixture(), ann);
    const sent = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value === "ours" ? fixture().base : value]),
    );
    const { status, body } = await sendRequest(`${fixture().base}/v1/api-key`, {
      method: "POST",
      cookie,
      headers: sent,
    });
    expect([status, body.error.message]).toEqual([
      403,
      "Origin: must be that of the dashboard. Use the dashboard's own pages.",
    ]);
    expect((await sendRequest(`${fixture().base}/v1/api-key`, { cookie })).status).toBe(404);
  });

  test("a request with our Origin, from our page, is accepted, and a read needs no Origin", async () => {
    const { cookie } = await signIn(fixture(), ann);
    expect((await post(cookie, { "Sec-Fetch-Site": "same-origin" })).status).toBe(201);
    expect(
      (
        await sendRequest(`${fixture().base}/v1/api-key`, {
          cookie,
          origin: "https://evil.example",
          headers: { "Sec-Fetch-Site": "cross-site" },
        })
      ).status,
    ).toBe(200);
    expect(
      (await sendRequest(`${fixture().base}/v1/api-key`, { method: "DELETE", cookie, origin: fixture().base })).status,
    ).toBe(200);
  });
});

test("a session that expired is over on every instance, and its cookie shows nothing", async () => {
  const sessions = fixture().service.app.client.db().collection("dashboard_sessions");
  // By the database's clock, which may be a second ahead of the instance's estimate.
  const ago = (ms: number): Date => new Date(Date.now() - ms - 2_000);
  for (const change of [{ expires_at: ago(0) }, { used_at: ago(2 * 3_600_000) }]) {
    const { cookie } = await signIn(fixture(), ann);
    await sessions.updateMany({ subject: "person-ann" }, { $set: change });
    expect(await ownerStatus(fixture().base, cookie)).toBe(401);
    expect((await sendRequest(`${fixture().base}/`, { cookie })).text).not.toContain("ann@example.com");
  }
  const { cookie } = await signIn(fixture(), ann);
  await sessions.updateMany({ subject: "person-ann" }, { $set: { used_at: new Date(Date.now() - 90 * 60_000) } });
  expect(await ownerStatus(fixture().base, cookie)).toBe(200);
  // It counts as used from here on; when it began and ends stays.
  const kept = (await sessions.find({ subject: "person-ann" }).sort({ created_at: -1 }).toArray())[0];
  expect(kept?.["used_at"].getTime()).toBeGreaterThan(Date.now() - 60_000);
  expect(kept?.["expires_at"].getTime() - kept?.["created_at"].getTime()).toBe(12 * 3_600_000);
});

test("MongoDB removes expired sessions by itself", async () => {
  const indexes = await fixture().service.app.client.db().collection("dashboard_sessions").indexes();
  expect(indexes.find(({ key }) => "expires_at" in key)).toMatchObject({ expireAfterSeconds: 0 });
});

test("with an older secret next to a newer one the sessions of both continue, and only new instances know the newer one [OPS-41]", async () => {
  const older = await signIn(fixture(), ann);
  const newest = "another-session-secret-of-32-characters-or-more";
  const other = await fixture().service.another({
    BASE_URL: fixture().base,
    SESSION_SECRET: "",
    SESSION_SECRETS: `${newest}, ${sessionSecret}`,
  });
  try {
    expect(await ownerStatus(other.base, older.cookie)).toBe(200);
    const nobody = { issuer: fixture().provider.issuer, subject: "nobody" };
    const own = await storeSession(other.app.client.db(), nobody, newest);
    expect([await ownerStatus(other.base, own), await ownerStatus(fixture().base, own)]).toEqual([403, 401]);
  } finally {
    await other.stop();
  }
});
