// OpenID Connect Back-Channel Logout: a sign-out at the provider ends the sessions here, once.
import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { enter, logout } from "../fixtures/sign-in/fake-provider.ts";
import { exchange } from "../fixtures/clients/raw.ts";
import { ann } from "../fixtures/sign-in/users.ts";
import {
  auditOf,
  newOwner,
  ownerStatus,
  sendRequest,
  sessionCount,
  signIn,
  useSignInFixture,
} from "../fixtures/sign-in/fixture.ts";
import { useLogoutTokens } from "./logout-tokens.ts";

const fixture = useSignInFixture();
const { fake, service, base, claimsOf, sendToken } = useLogoutTokens();

test("signing out at the provider ends our session over the back channel [DSH-04]", async () => {
  const { browser, cookie } = await signIn(fixture(), ann);
  const other = await signIn(fixture(), ann);
  const page = await browser.open(`${fixture().provider.issuer}/session/end`);
  expect(await ownerStatus(fixture().base, cookie)).toBe(200);
  await browser.submit(page);
  expect([await ownerStatus(fixture().base, cookie), await ownerStatus(fixture().base, other.cookie)]).toEqual([
    401, 200,
  ]);
  const [newest] = await auditOf(fixture().base, other.cookie);
  expect(newest).toMatchObject({
    event: "signed_out",
    detail: "At the identity provider.",
    person: "ann@example.com",
    address: "127.0.0.1",
  });
});

test("valid logout tokens are throttled by the session or user that each names, all others by their address [RTE-01, RTE-23, DSH-04]", async () => {
  const limits = { RATE_LIMIT: "1", RATE_BURST: "3", MAX_IN_FLIGHT: "8" };
  const limited = await service().another({ ...fake().settings(), ...limits });
  onTestFinished(() => limited.stop());
  const send = async (...tokens: string[]): Promise<number[]> =>
    (await Promise.all(tokens.map((token) => sendToken(token, limited.base)))).map(({ status }) => status).sort();
  const sign = (sid: string) => fake().sign(claimsOf({ sid, jti: randomUUID() }));
  // A provider signs out all its users at once, from its one address.
  expect(await send(...(await Promise.all(Array.from({ length: 12 }, () => sign(randomUUID())))))).toEqual(
    Array(12).fill(200),
  );
  const invalid = Array.from({ length: 12 }, () => "invalid");
  expect(new Set(await send(...invalid))).toEqual(new Set([400, 429]));
  expect(await send(await sign(randomUUID()))).toEqual([200]);
  // Bodies that do not arrive hold none of the slots that verifications need.
  const port = Number(new URL(limited.base).port);
  const slow = Array.from({ length: 10 }, () => connect(port, "127.0.0.1"));
  onTestFinished(() => slow.forEach((socket) => socket.destroy()));
  const head = "POST /sign-out/back-channel HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nlogout_token=";
  for (const socket of slow) await new Promise<void>((resolve) => socket.write(head, () => resolve()));
  expect(await send(await sign(randomUUID()))).toEqual([200]);
  const again = await Promise.all(Array.from({ length: 12 }, () => sign("the-session")));
  expect(new Set(await send(...again))).toEqual(new Set([200, 429]));
});

test("a logout request that does not arrive completely gets 408, and 429 once its address has no tokens left [RTE-20, DSH-04]", async () => {
  const limits = { RATE_LIMIT: "1", RATE_BURST: "3" };
  const limited = await service().another({ ...fake().settings(), ...limits });
  onTestFinished(() => limited.stop());
  const head = "POST /sign-out/back-channel HTTP/1.1\r\nHost: localhost\r\n";
  const slow = Array.from({ length: 8 }, () =>
    exchange(limited.base, `${head}Content-Length: 16000\r\n\r\nlogout_token=${"x".repeat(15_000)}`, 10_000),
  );
  const form = "POST /sign-out HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nuser=";
  const signOut = exchange(base(), form, 10_000);
  // A complete request from the same address is served meanwhile.
  expect((await sendToken(await fake().sign(claimsOf()), limited.base)).status).toBe(200);
  const responses = (await Promise.all(slow)).map((one) => one.responses[0]);
  const statuses = responses.map((response) => response?.status);
  expect((await signOut).responses[0]?.status).toBe(408);
  expect(new Set(statuses)).toEqual(new Set([408, 429]));
  expect(statuses.filter((status) => status === 408).length).toBeLessThanOrEqual(4);
  expect(JSON.parse(responses.find((response) => response?.status === 408)?.body ?? "")).toEqual({
    error: {
      code: "408",
      message: "The HTTP request did not arrive in time. Send it again.",
      reason: "REQUEST_TIMEOUT",
    },
  });
});

test("a form of more than 16 KiB counts as one without a token, and a smaller one is read [DSH-04]", async () => {
  const token = await fake().sign(claimsOf({ padding: "x".repeat(16_384) }));
  expect((await sendToken(token)).body).toEqual({
    error: { code: "400", message: "logout_token: is required.", reason: "INVALID_LOGOUT_TOKEN" },
  });
  expect((await sendToken(await fake().sign(claimsOf({ padding: "x".repeat(8_000) })))).status).toBe(200);
});

describe("a logout token", () => {
  test("ends the session that began with its sid, and no other [DSH-04]", async () => {
    const [sid, another] = [randomUUID(), randomUUID()];
    const [one, same, other] = [
      await enter(base(), fake(), { sid }),
      await enter(base(), fake(), { sid }),
      await enter(base(), fake(), { sid: another }),
    ];
    const { status, text, headers } = await sendToken(await fake().sign(claimsOf({ sid })));
    expect([status, text, headers.get("cache-control")]).toEqual([200, "", "no-store"]);
    for (const { cookie } of [one, same])
      expect((await sendRequest(`${base()}/`, { cookie })).text).not.toContain("dora@example.com");
    expect((await sendRequest(`${base()}/`, { cookie: other.cookie })).text).toContain("dora@example.com");
  });

  test("ends that session with only a sid as well [DSH-04]", async () => {
    const sid = randomUUID();
    const { cookie } = await enter(base(), fake(), { sid });
    expect((await sendToken(await fake().sign(claimsOf({ sid, sub: undefined })))).status).toBe(200);
    expect((await sendRequest(`${base()}/`, { cookie })).text).not.toContain("dora@example.com");
  });

  test("ends all sessions of the user with only a sub, and no one else's [DSH-04]", async () => {
    const [one, other, stranger] = [
      await enter(base(), fake(), { sid: randomUUID() }),
      await enter(base(), fake()),
      await enter(base(), fake(), { sub: "person-emil", email: "emil@example.com" }),
    ];
    expect((await sendToken(await fake().sign(claimsOf()))).status).toBe(200);
    for (const { cookie } of [one, other])
      expect((await sendRequest(`${base()}/`, { cookie })).text).not.toContain("dora@example.com");
    expect((await sendRequest(`${base()}/`, { cookie: stranger.cookie })).text).toContain("emil@example.com");
    expect(await sessionCount(service(), { subject: "person-dora" })).toBe(0);
  });

  test("ends the sessions that another instance began, and none that began at another provider [DSH-04]", async () => {
    const second = await service().another();
    try {
      const { cookie } = await enter(base(), fake());
      await service()
        .app.client.db()
        .collection("dashboard_sessions")
        .insertOne({
          issuer: "https://other.example",
          subject: "person-dora",
          expires_at: new Date(Date.now() + 60_000),
        });
      expect((await sendToken(await fake().sign(claimsOf()), second.base)).status).toBe(200);
      expect((await sendRequest(`${base()}/`, { cookie })).text).not.toContain("dora@example.com");
      expect(await sessionCount(service(), { issuer: "https://other.example" })).toBe(1);
    } finally {
      await second.stop();
    }
  });

  test.each([
    ["of a user who is not signed in", { sub: "person-nobody" }],
    ["of an unknown session", { sid: "unknown" }],
    ["for several services", { aud: ["another", "records"] }],
    ["with additional members in its event", { events: { ...logout, "https://example.com/other": {} } }],
  ])("is accepted %s", async (_name, changes) => {
    expect((await sendToken(await fake().sign(claimsOf(changes)))).status).toBe(200);
  });

  test.each(["logout+jwt", "LOGOUT+JWT", "JWT"])("is accepted with the type %s", async (typ) => {
    expect((await sendToken(await fake().sign(claimsOf(), { typ }))).status).toBe(200);
  });

  test("is in the audit log of a user's account, once for each session [DSH-04]", async () => {
    await newOwner(service(), fake().issuer, "person-fay", "fay@example.com");
    const [one] = [
      await enter(base(), fake(), { sub: "person-fay", email: "fay@example.com" }),
      await enter(base(), fake(), { sub: "person-fay", email: "fay@example.com" }),
    ];
    expect(await ownerStatus(base(), one.cookie)).toBe(200);
    expect(
      (await sendToken(await fake().sign(claimsOf({ sub: "person-fay" })), base(), { "X-Request-Id": "from-behind" }))
        .status,
    ).toBe(200);
    expect(await ownerStatus(base(), one.cookie)).toBe(401);
    const entries = await auditOf(
      base(),
      (await enter(base(), fake(), { sub: "person-fay", email: "fay@example.com" })).cookie,
    );
    const out = {
      event: "signed_out",
      detail: "At the identity provider.",
      key_prefix: null,
      person: "fay@example.com",
      request_id: "from-behind",
      address: "127.0.0.1",
    };
    expect(entries.slice(1, 3)).toEqual([out, out]);
  });

  test("is accepted if it is signed with a newly rotated key of the provider [DSH-04]", async () => {
    const [sid, another] = [randomUUID(), randomUUID()];
    expect((await sendToken(await fake().sign(claimsOf({ sid: another, sub: undefined })))).status).toBe(200);
    const { cookie } = await enter(base(), fake(), { sid });
    expect((await sendRequest(`${base()}/`, { cookie })).text).toContain("dora@example.com");
    const old = fake().key;
    await fake().rotate();
    expect((await sendToken(await fake().sign(claimsOf({ sid, sub: undefined })))).status).toBe(200);
    expect((await sendRequest(`${base()}/`, { cookie })).text).not.toContain("dora@example.com");
    expect(
      (await sendToken(await fake().sign(claimsOf({ sid: another }), { kid: old.kid }, old.privateKey))).status,
    ).toBe(400);
  });
});

describe("a repeated logout token", () => {
  test("ends no newer session on any instance [DSH-07]", async () => {
    const second = await service().another();
    try {
      for (const [sid, sub] of [
        [undefined, "person-dora"],
        [randomUUID(), undefined],
      ] as const) {
        const token = await fake().sign(claimsOf({ sid, sub }));
        const before = await enter(base(), fake(), sid === undefined ? {} : { sid });
        expect((await sendToken(token)).status).toBe(200);
        expect((await sendRequest(`${base()}/`, { cookie: before.cookie })).text).not.toContain("dora@example.com");
        const { cookie } = await enter(base(), fake());
        for (const at of [base(), second.base])
          expect((await sendToken(token, at)).body).toEqual({
            error: {
              code: "400",
              message: "logout_token: must be a new one; this one was already received.",
              reason: "INVALID_LOGOUT_TOKEN",
            },
          });
        expect((await sendRequest(`${base()}/`, { cookie })).text).toContain("dora@example.com");
      }
    } finally {
      await second.stop();
    }
  });

  test("is counted once even if both arrive at the same time [DSH-07]", async () => {
    const token = await fake().sign(claimsOf({ sid: randomUUID() }));
    const statuses = await Promise.all(Array.from({ length: 4 }, async () => (await sendToken(token)).status));
    expect(statuses.sort()).toEqual([200, 400, 400, 400]);
  });

  test.each([
    ["it expires", {}],
    ["it is too old, without an expiry", { exp: undefined }],
  ])("is known until %s [DSH-07]", async (_name, changes) => {
    const jti = randomUUID();
    const token = await fake().sign(claimsOf({ jti, ...changes }));
    expect([(await sendToken(token)).status, (await sendToken(token)).status]).toEqual([200, 400]);
    const tokens = service().app.client.db().collection("logout_tokens");
    const [kept] = await tokens.find({ "_id.jti": jti }).toArray();
    expect(kept?.["forgettable_at"].getTime()).toBeGreaterThan(Date.now() + 120_000);
    expect(kept?.["forgettable_at"].getTime()).toBeLessThan(Date.now() + 1_000_000);
    expect((await tokens.indexes()).find(({ name }) => name === "expiry")).toMatchObject({
      key: { forgettable_at: 1 },
      expireAfterSeconds: 0,
    });
  });
});
