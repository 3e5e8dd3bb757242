// Who may use the operations on the API key, and in which order they are rejected (contract §7.5).
import type { Binary } from "mongodb";
import { describe, expect, test } from "vitest";
import { counts, useService } from "../support/client.ts";
import type { TestUser } from "../support/user.ts";
import { accountUuid, newUser, openSession } from "../support/user.ts";
import type { RestResponse, RestCall } from "../fixtures/service/service.ts";
import { rest } from "../fixtures/service/service.ts";

const service = useService();

const operations = [
  ["GET", "/v1/api-key"],
  ["POST", "/v1/api-key"],
  ["POST", "/v1/api-key/rotate"],
  ["DELETE", "/v1/api-key"],
  ["GET", "/v1/audit-log"],
] as const;
const changes = operations.filter(([method]) => method !== "GET");

function expectRejected({ status, body, headers }: RestResponse, wanted: number, message: string): void {
  expect([status, body]).toEqual([
    wanted,
    { error: { code: String(wanted), message, reason: expect.stringMatching(/^[A-Z_]+$/) } },
  ]);
  expect([headers.get("ratelimit-limit"), headers.get("ratelimit-policy")]).toEqual(["100000", "100000;w=1"]);
  expect(headers.get("ratelimit-remaining") ?? headers.get("ratelimit-reset") ?? headers.get("retry-after")).toBeNull();
  expect(headers.get("www-authenticate")).toBe(wanted === 401 ? "Bearer" : null);
}

const notSignedIn = "You are not signed in. Sign in on the dashboard. An API key is not accepted here.";
const foreign = "Origin: must be that of the dashboard. Use the dashboard's own pages.";
const notEnrolled = "The account is not enrolled in the beta. Ask the operator of the service to enrol it.";
const noAccount = "The signed-in user has no account. Ask the operator of the service to link one.";

/** The value by which the user's page names the user. */
async function shownUser({ cookie }: Pick<TestUser, "cookie">): Promise<string> {
  // By our own host name: any other one redirects there, without the cookie.
  const { text } = await rest(service().app.baseUrl, "/", { headers: { Cookie: cookie } });
  return /name="user" value="([^"]*)"/.exec(text)?.[1] ?? "";
}

describe.each(operations)("the operation %s %s", (method, path) => {
  const call = (user: TestUser, headers: Record<string, string>, more: RestCall = {}): Promise<RestResponse> =>
    user.call(path, { method, headers, ...more });

  test("is 401 without the cookie, with a malformed one, and with one that was never issued [KEY-13]", async () => {
    const user = await newUser(service());
    const value = user.cookie.slice("records_session=".length);
    for (const cookie of [
      "",
      "records_session=",
      "records_session=x",
      `records_session=${"A".repeat(43)}`,
      `records_session=${value}x`,
      `session=${value}`,
      `Records_Session=${value}`,
      `__Host-records_session=${value}`,
    ]) {
      expectRejected(await call(user, { Cookie: cookie }), 401, notSignedIn);
    }
  });

  test("is 401 with an API key or a service token in place of the cookie [KEY-13]", async () => {
    const user = await newUser(service());
    const { key } = await service().account();
    for (const secret of [key, service().serviceToken]) {
      expectRejected(await call(user, { Cookie: "", Authorization: `Bearer ${secret}` }), 401, notSignedIn);
      expectRejected(await call(user, { Cookie: `records_session=${secret}` }), 401, notSignedIn);
    }
  });

  test("is 401 once the session is over: after 12 hours, after 2 hours without use, or when it was ended [KEY-13]", async () => {
    const sessions = service().app.client.db().collection("dashboard_sessions");
    const hoursAgo = (hours: number): Date => new Date(Date.now() - hours * 3_600_000);
    for (const [goesOn, change] of [
      [true, { used_at: hoursAgo(1.9) }],
      [false, { used_at: hoursAgo(2.1) }],
      [true, { expires_at: hoursAgo(-0.1) }],
      [false, { expires_at: hoursAgo(0.001) }],
    ] as const) {
      const user = await newUser(service());
      await sessions.updateOne({ subject: user.subject }, { $set: change });
      const { status } = await call(user, {});
      if (goesOn) expect(status).not.toBe(401);
      else expect(status).toBe(401);
    }
    const user = await newUser(service());
    await sessions.deleteOne({ subject: user.subject });
    expectRejected(await call(user, {}), 401, notSignedIn);
  });

  test("is 403 for a user without an account [KEY-13]", async () => {
    expectRejected(await call(await newUser(service(), { account: false }), {}), 403, noAccount);
  });

  test("is 401 if another user is signed in than the page shows, before any other check, and writes nothing [KEY-13]", async () => {
    const [shown, other] = [await newUser(service()), await newUser(service(), { account: false })];
    const [id, name] = [await shownUser(shown), "Records-User"];
    expect(id).toMatch(/^[\w-]{43}$/);
    const before = await counts(service());
    expectRejected(
      await call(other, { [name]: id, Origin: "" }),
      401,
      "Another user is signed in now. Reload the page.",
    );
    expect(await counts(service())).toEqual(before);
    expect((await call(shown, { [name]: id })).status).not.toBe(401);
    expect(await shownUser(await openSession(service(), shown.subject, shown.email))).toBe(id);
  });

  test("counts towards the rate limit and has its headers, whatever the status", async () => {
    const { headers } = await call(await newUser(service()), {});
    expect([headers.get("ratelimit-limit"), headers.get("ratelimit-policy")]).toEqual(["100000", "100000;w=1"]);
  });
});

describe.each(changes)("the change %s %s", (method, path) => {
  test("is 403 when the origin is missing, null, or that of another site [KEY-14]", async () => {
    const user = await newUser(service());
    const { host, port } = new URL(user.origin);
    const origins = [
      "",
      "null",
      "https://evil.example",
      `https://${host}`,
      `http://localhost:${Number(port) + 1}`,
      `${user.origin}.evil.example`,
      `${user.origin}/`,
      `http://127.0.0.1:${port}`,
      user.origin.toUpperCase(),
    ];
    for (const origin of origins)
      expectRejected(await user.call(path, { method, headers: { Origin: origin } }), 403, foreign);
  });

  test("is 403 when the browser reports that another site sends it, whatever the origin [KEY-14]", async () => {
    const user = await newUser(service());
    for (const site of ["cross-site", "same-site", "none"]) {
      expectRejected(await user.call(path, { method, headers: { "Sec-Fetch-Site": site } }), 403, foreign);
    }
    expect((await user.call(path, { method, headers: { "Sec-Fetch-Site": "" } })).status).not.toBe(403);
  });

  test("is 401 before the origin is checked [KEY-16]", async () => {
    const user = await newUser(service());
    expectRejected(
      await user.call(path, { method, headers: { Cookie: "", Origin: "https://evil.example" } }),
      401,
      notSignedIn,
    );
  });
});

test.each(["/v1/api-key", "/v1/api-key/rotate"])(
  "POST %s is 403 for an account that is not enrolled in the beta, before its body is checked [KEY-15, KEY-16]",
  async (path) => {
    const user = await newUser(service(), { enrolled: false });
    expectRejected(await user.call(path, { method: "POST" }), 403, notEnrolled);
    expectRejected(await user.call(path, { method: "POST", body: { access: 7 } }), 403, notEnrolled);
  },
);

test("withdrawing the enrolment leaves the key valid; its owner can see and revoke it, but not rotate it [KEY-15]", async () => {
  const user = await newUser(service());
  const { key, id } = (await user.call("/v1/api-key", { method: "POST" })).body.data;
  await service().app.services.accounts.enrol(accountUuid(user), false, {});
  expect((await service().rest("/v1/contacts?query=ann", { key })).status).toBe(200);
  expectRejected(await user.call("/v1/api-key/rotate", { method: "POST" }), 403, notEnrolled);
  expectRejected(await user.call("/v1/api-key", { method: "POST" }), 403, notEnrolled);
  expect((await user.call("/v1/api-key")).body.data.id).toBe(id);
  expect((await user.call("/v1/api-key", { method: "DELETE" })).status).toBe(200);
});

test("422 comes before 404 and before 409 [KEY-16]", async () => {
  const user = await newUser(service());
  expect((await user.call("/v1/api-key/rotate", { method: "POST", body: { access: "x" } })).status).toBe(422);
  await user.call("/v1/api-key", { method: "POST" });
  expect((await user.call("/v1/api-key", { method: "POST", body: { access: "x" } })).status).toBe(422);
});

test.each(["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain"])(
  "a form post (%s) creates nothing, with or without a body: 422, and 403 from another site",
  async (type) => {
    const user = await newUser(service());
    for (const raw of ["", "access=read_only", "{}"]) {
      const headers = { "Content-Type": type };
      expect((await user.call("/v1/api-key", { method: "POST", raw, headers })).status).toBe(422);
      expect(
        (
          await user.call("/v1/api-key", {
            method: "POST",
            raw,
            headers: { ...headers, Origin: "https://evil.example" },
          })
        ).status,
      ).toBe(403);
    }
    expect((await user.call("/v1/api-key")).status).toBe(404);
  },
);

test("an API key is rejected by the key operations, and a session by the record endpoints", async () => {
  const user = await newUser(service());
  expect((await user.call("/v1/contacts?query=ann")).status).toBe(401);
  expect((await user.call("/v1/contacts", { body: { full_name: "Bo" } })).status).toBe(401);
});

test("a user's session reaches only their own account, and is invalid under another secret", async () => {
  const [one, other] = [await newUser(service()), await newUser(service())];
  await one.call("/v1/api-key", { method: "POST" });
  expect((await other.call("/v1/api-key")).status).toBe(404);
  expect((await other.call("/v1/audit-log")).body.data).toEqual([]);
  const stranger = await service().another({ SESSION_SECRET: "another-session-secret-of-32-characters" });
  try {
    expect((await one.call("/v1/api-key", {}, stranger)).status).toBe(401);
  } finally {
    await stranger.stop();
  }
});

test("a session document in MongoDB cannot be used to sign in", async () => {
  const user = await newUser(service());
  const stored = await service()
    .app.client.db()
    .collection<{ _id: Binary; id_token: string }>("dashboard_sessions")
    .findOne({ subject: user.subject } as never);
  const id = (stored?._id as Binary).buffer;
  for (const value of [
    Buffer.from(id).toString("base64url"),
    Buffer.from(id).toString("hex"),
    Buffer.from(id).toString("base64"),
  ]) {
    expect((await user.call("/v1/api-key", { headers: { Cookie: `records_session=${value}` } })).status).toBe(401);
  }
  expect(JSON.stringify(stored)).not.toContain("an-id-token-that-is-no-token");
});

test("two sessions of one user are independent: ending one leaves the other", async () => {
  const user = await newUser(service());
  const second = await openSession(service(), user.subject, user.email);
  await service()
    .app.client.db()
    .collection("dashboard_sessions")
    .findOneAndDelete({ subject: user.subject }, { sort: { created_at: 1 } });
  expect([(await user.call("/v1/api-key")).status, (await second.call("/v1/api-key")).status].sort()).toEqual([
    401, 404,
  ]);
});
