// OpenID Connect Back-Channel Logout: whom the provider signs out is signed out here, and by nobody else.
import { randomUUID } from "node:crypto";
import { Agent, request } from "node:http";
import { SignJWT, UnsecuredJWT, exportSPKI } from "jose";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type { JWTPayload } from "jose";
import type { RestResponse, TestService } from "../../fixtures/service/service.ts";
import { startService } from "../../fixtures/service/service.ts";
import type { FakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import {
  clientSecret,
  enter,
  idClaims,
  logout,
  logoutClaims,
  newKey,
  seconds,
  startFakeProvider,
  tellLogout,
} from "../../fixtures/sign-in/fake-provider.ts";
import { ann } from "../../fixtures/sign-in/people.ts";
import { ask, auditOf, newOwner, ownerStatus, sessionCount, signIn, useHouse } from "../../fixtures/sign-in/house.ts";

const house = useHouse();
let fake: FakeProvider;
let service: TestService;
let base: string;

beforeAll(async () => {
  fake = await startFakeProvider();
  service = await startService(fake.settings());
  base = service.app.baseUrl;
});
afterEach(() => {
  vi.useRealTimers();
  fake.responses.clear();
});
afterAll(async () => {
  await service.stop();
  await fake.stop();
});

const claimsOf = (changes: Record<string, unknown> = {}): JWTPayload => logoutClaims(fake, changes);
const tell = (token: string | undefined, at = base, headers: Record<string, string> = {}): Promise<RestResponse> =>
  tellLogout(at, token, headers);

test("signing out at the provider ends our session, behind the browser's back [DSH-04]", async () => {
  const { browser, cookie } = await signIn(house(), ann);
  const other = await signIn(house(), ann);
  const page = await browser.open(`${house().provider.issuer}/session/end`);
  expect(await ownerStatus(house().base, cookie)).toBe(200);
  await browser.submit(page);
  expect([await ownerStatus(house().base, cookie), await ownerStatus(house().base, other.cookie)]).toEqual([401, 200]);
  const [newest] = await auditOf(house().base, other.cookie);
  expect(newest).toMatchObject({
    event: "signed_out",
    detail: "At the identity provider.",
    person: "ann@example.com",
    address: "127.0.0.1",
  });
});

describe("a logout token", () => {
  test("with a sid ends the session that began there, and no other [DSH-04]", async () => {
    const [sid, another] = [randomUUID(), randomUUID()];
    const [one, same, other] = [
      await enter(base, fake, { sid }),
      await enter(base, fake, { sid }),
      await enter(base, fake, { sid: another }),
    ];
    const { status, text, headers } = await tell(await fake.sign(claimsOf({ sid })));
    expect([status, text, headers.get("cache-control")]).toEqual([200, "", "no-store"]);
    for (const { cookie } of [one, same])
      expect((await ask(`${base}/`, { cookie })).text).not.toContain("dora@example.com");
    expect((await ask(`${base}/`, { cookie: other.cookie })).text).toContain("dora@example.com");
  });

  test("with a sid alone does as well [DSH-04]", async () => {
    const sid = randomUUID();
    const { cookie } = await enter(base, fake, { sid });
    expect((await tell(await fake.sign(claimsOf({ sid, sub: undefined })))).status).toBe(200);
    expect((await ask(`${base}/`, { cookie })).text).not.toContain("dora@example.com");
  });

  test("with a sub alone ends all sessions of the user, and nobody else's [DSH-04]", async () => {
    const [one, other, stranger] = [
      await enter(base, fake, { sid: randomUUID() }),
      await enter(base, fake),
      await enter(base, fake, { sub: "person-emil", email: "emil@example.com" }),
    ];
    expect((await tell(await fake.sign(claimsOf()))).status).toBe(200);
    for (const { cookie } of [one, other])
      expect((await ask(`${base}/`, { cookie })).text).not.toContain("dora@example.com");
    expect((await ask(`${base}/`, { cookie: stranger.cookie })).text).toContain("emil@example.com");
    expect(await sessionCount(service, { subject: "person-dora" })).toBe(0);
  });

  test("ends the sessions that another instance began, and none that began at another provider [DSH-04]", async () => {
    const second = await service.another();
    try {
      const { cookie } = await enter(base, fake);
      await service.app.client
        .db()
        .collection("dashboard_sessions")
        .insertOne({
          issuer: "https://other.example",
          subject: "person-dora",
          expires_at: new Date(Date.now() + 60_000),
        });
      expect((await tell(await fake.sign(claimsOf()), second.base)).status).toBe(200);
      expect((await ask(`${base}/`, { cookie })).text).not.toContain("dora@example.com");
      expect(await sessionCount(service, { issuer: "https://other.example" })).toBe(1);
    } finally {
      await second.stop();
    }
  });

  test.each([
    ["of nobody who is signed in", { sub: "person-nobody" }],
    ["of a session that is unknown", { sid: "unknown" }],
    ["for several services", { aud: ["another", "records"] }],
    ["with more in its event", { events: { ...logout, "https://example.com/other": {} } }],
  ])("%s is taken all the same", async (_name, changes) => {
    expect((await tell(await fake.sign(claimsOf(changes)))).status).toBe(200);
  });

  test.each(["logout+jwt", "LOGOUT+JWT", "JWT"])("of the type %s is taken", async (typ) => {
    expect((await tell(await fake.sign(claimsOf(), { typ }))).status).toBe(200);
  });

  test("of a user with an account is in the audit log, once for each session [DSH-04]", async () => {
    await newOwner(service, fake.issuer, "person-fay", "fay@example.com");
    const [one] = [
      await enter(base, fake, { sub: "person-fay", email: "fay@example.com" }),
      await enter(base, fake, { sub: "person-fay", email: "fay@example.com" }),
    ];
    expect(await ownerStatus(base, one.cookie)).toBe(200);
    expect(
      (await tell(await fake.sign(claimsOf({ sub: "person-fay" })), base, { "X-Request-Id": "from-behind" })).status,
    ).toBe(200);
    expect(await ownerStatus(base, one.cookie)).toBe(401);
    const entries = await auditOf(
      base,
      (await enter(base, fake, { sub: "person-fay", email: "fay@example.com" })).cookie,
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

  test("that is signed with a key which the provider rotated in just now is taken [DSH-04]", async () => {
    const [sid, another] = [randomUUID(), randomUUID()];
    expect((await tell(await fake.sign(claimsOf({ sid: another, sub: undefined })))).status).toBe(200);
    // Another user: this test advances the clock, and the other tests need the right time.
    const { cookie } = await enter(base, fake, { sid, sub: "person-rota" });
    expect((await ask(`${base}/`, { cookie })).text).toContain("dora@example.com");
    const old = fake.key;
    await fake.rotate();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 31_000 });
    expect((await tell(await fake.sign(claimsOf({ sid, sub: undefined })))).status).toBe(200);
    expect((await ask(`${base}/`, { cookie })).text).not.toContain("dora@example.com");
    expect((await tell(await fake.sign(claimsOf({ sid: another }), { kid: old.kid }, old.privateKey))).status).toBe(
      400,
    );
  });

  test("with an unknown key fetches the provider's keys at most once in 30 seconds [OAU-18]", async () => {
    const stranger = await newKey("unknown");
    await tell(await fake.sign(claimsOf()));
    fake.asked.length = 0;
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 100_000 });
    const tokens = await Promise.all(
      Array.from({ length: 20 }, () => fake.sign(claimsOf(), { kid: randomUUID() }, stranger.privateKey)),
    );
    for (const token of tokens) expect((await tell(token)).status).toBe(400);
    expect(fake.asked.filter((path) => path === "/jwks").length).toBe(1);
  });
});

describe("a logout token counts once", () => {
  test("on every instance: a second delivery ends no newer session [DSH-07]", async () => {
    const second = await service.another();
    try {
      for (const [sid, sub] of [
        [undefined, "person-dora"],
        [randomUUID(), undefined],
      ] as const) {
        const token = await fake.sign(claimsOf({ sid, sub }));
        const before = await enter(base, fake, sid === undefined ? {} : { sid });
        expect((await tell(token)).status).toBe(200);
        expect((await ask(`${base}/`, { cookie: before.cookie })).text).not.toContain("dora@example.com");
        const { cookie } = await enter(base, fake);
        for (const at of [base, second.base])
          expect((await tell(token, at)).body).toEqual({
            error: { code: "400", message: "logout_token: must be a new one; this one was already received." },
          });
        expect((await ask(`${base}/`, { cookie })).text).toContain("dora@example.com");
      }
    } finally {
      await second.stop();
    }
  });

  test("also when it is delivered several times at once [DSH-07]", async () => {
    const token = await fake.sign(claimsOf({ sid: randomUUID() }));
    const statuses = await Promise.all(Array.from({ length: 4 }, async () => (await tell(token)).status));
    expect(statuses.sort()).toEqual([200, 400, 400, 400]);
  });

  test("and is remembered until it expires [DSH-07]", async () => {
    const jti = randomUUID();
    expect((await tell(await fake.sign(claimsOf({ jti })))).status).toBe(200);
    const tokens = service.app.client.db().collection("logout_tokens");
    const [kept] = await tokens.find({ "_id.jti": jti }).toArray();
    expect(kept?.["forgettable_at"].getTime()).toBeGreaterThan(Date.now() + 120_000);
    expect(kept?.["forgettable_at"].getTime()).toBeLessThan(Date.now() + 1_000_000);
    expect((await tokens.indexes()).find(({ name }) => name === "expiry")).toMatchObject({
      key: { forgettable_at: 1 },
      expireAfterSeconds: 0,
    });
  });
});

describe("a logout token is rejected and ends nothing:", () => {
  /** Rejected with 400 in the envelope; the user whom it names stays signed in. */
  async function expectRejected(token: string | undefined, headers?: Record<string, string>): Promise<RestResponse> {
    const { cookie } = await enter(base, fake, { sid: "the-session" });
    const response = await tell(token, base, headers);
    expect([response.status, response.headers.get("content-type"), response.headers.get("cache-control")]).toEqual([
      400,
      "application/json; charset=utf-8",
      "no-store",
    ]);
    expect(response.body).toEqual({
      error: {
        code: "400",
        message: expect.stringMatching(/^(The logout_token is not valid|logout_token: is required)/),
      },
    });
    expect((await ask(`${base}/`, { cookie })).text).toContain("dora@example.com");
    return response;
  }

  test.each<[string, () => Record<string, unknown>]>([
    ["of another issuer", () => ({ iss: "https://other.example" })],
    ["of the issuer with a slash more", () => ({ iss: `${fake.issuer}/` })],
    ["of no issuer", () => ({ iss: undefined })],
    ["for another audience", () => ({ aud: "another" })],
    ["for no audience", () => ({ aud: undefined })],
    ["that is expired", () => ({ exp: seconds() - 60 })],
    ["without an expiry", () => ({ exp: undefined })],
    ["that was issued too long ago", () => ({ iat: seconds() - 700, exp: seconds() + 120 })],
    ["that is issued in the future", () => ({ iat: seconds() + 120, exp: seconds() + 240 })],
    ["that does not say when it was issued", () => ({ iat: undefined })],
    ["that is not valid yet", () => ({ nbf: seconds() + 120 })],
    ["without an id", () => ({ jti: undefined })],
    ["whose id is no text", () => ({ jti: { $ne: "" } })],
    ["without events", () => ({ events: undefined })],
    ["with another event", () => ({ events: { "http://schemas.openid.net/event/other": {} } })],
    ["whose events are a text", () => ({ events: "http://schemas.openid.net/event/backchannel-logout" })],
    ["whose events are a list", () => ({ events: ["http://schemas.openid.net/event/backchannel-logout"] })],
    ["whose events are null", () => ({ events: null })],
    [
      "whose event is true and no object",
      () => ({ events: { "http://schemas.openid.net/event/backchannel-logout": true } }),
    ],
    ["whose event is null", () => ({ events: { "http://schemas.openid.net/event/backchannel-logout": null } })],
    ["with a nonce", () => ({ nonce: "n" })],
    ["with an empty nonce", () => ({ nonce: "" })],
    ["of neither a person nor a session", () => ({ sub: undefined })],
    ["whose person is a number", () => ({ sub: 7 })],
    ["whose person is a query", () => ({ sub: { $ne: "" } })],
    ["whose session is a query, of no person", () => ({ sid: { $ne: "" }, sub: undefined })],
  ])("one %s [DSH-04]", async (_name, changes) => {
    await expectRejected(await fake.sign(claimsOf(changes())));
  });

  test("one of another type [DSH-04]", async () => {
    for (const typ of ["at+jwt", "id+jwt", ""]) await expectRejected(await fake.sign(claimsOf(), { typ }));
  });

  test("an unsigned one [DSH-04]", async () => {
    await expectRejected(new UnsecuredJWT(claimsOf()).encode());
    const [header, payload] = (await fake.sign(claimsOf())).split(".");
    for (const form of [`${header}.${payload}.`, `${header}.${payload}`, `${header}.${payload}.AAAA`])
      await expectRejected(form);
  });

  test("one that is signed with the client's secret, or with the public key as if it were one [DSH-04]", async () => {
    for (const secret of [clientSecret, await exportSPKI(fake.key.publicKey)]) {
      const header = { alg: "HS256", kid: fake.key.kid };
      await expectRejected(await new SignJWT(claimsOf()).setProtectedHeader(header).sign(Buffer.from(secret)));
    }
  });

  test("one that is signed with a key which is not the provider's, whatever its header says [DSH-04]", async () => {
    const stranger = await newKey("stranger");
    const jwk = { kty: "RSA", e: "AQAB", n: "AQAB" };
    for (const header of [{}, { kid: "stranger" }, { kid: undefined }, { jku: "https://evil.example/jwks" }, { jwk }]) {
      await expectRejected(await fake.sign(claimsOf(), header, stranger.privateKey));
    }
  });

  test("one that was changed [DSH-04]", async () => {
    const [header, , signature] = (await fake.sign(claimsOf({ sub: "person-emil" }))).split(".");
    await expectRejected(`${header}.${Buffer.from(JSON.stringify(claimsOf())).toString("base64url")}.${signature}`);
  });

  test("an ID token in its place [DSH-04]", async () => {
    await expectRejected(await fake.sign(idClaims(fake, { nonce: "n", sid: "the-session" })));
    await expectRejected(await fake.sign(idClaims(fake, { jti: "1", sid: "the-session" })));
  });

  test("one with a header that nobody understands [DSH-04]", async () => {
    const [, payload, signature] = (await fake.sign(claimsOf())).split(".");
    for (const header of [{ alg: "RS256", crit: ["x"], x: 1 }, { alg: "RS256", typ: 5 }, { alg: 5 }, [], null, 5]) {
      await expectRejected(`${Buffer.from(JSON.stringify(header)).toString("base64url")}.${payload}.${signature}`);
    }
  });

  test.each([
    ["garbage", "garbage"],
    ["dots", ".."],
    ["four dots", "...."],
    ["a JWE", "a.b.c.d.e"],
    ["spaces", "   "],
    ["an empty text", ""],
    ["nothing", undefined],
  ])("%s [DSH-04]", async (_name, token) => {
    await expectRejected(token);
  });

  test.each([
    ["a letter outside of ASCII for its payload", "eyJhbGciOiJSUzI1NiJ9.é.AAAA"],
    ["letters outside of ASCII", "é.é.é"],
    ["a null character", "a\0.b.c"],
  ])("%s [DSH-04]", async (_name, token) => {
    await expectRejected(token);
  });

  test("one in the query, in JSON, or under another name [DSH-04]", async () => {
    const token = await fake.sign(claimsOf());
    const { cookie } = await enter(base, fake);
    const url = `${base}/sign-out/back-channel`;
    for (const response of [
      await ask(`${url}?logout_token=${token}`, { method: "POST" }),
      await ask(url, {
        body: JSON.stringify({ logout_token: token }),
        headers: { "Content-Type": "application/json" },
      }),
      await ask(url, { body: new URLSearchParams({ token }) }),
    ])
      expect(response.status).toBe(400);
    expect((await ask(`${base}/`, { cookie })).text).toContain("dora@example.com");
  });

  test("a body of a megabyte [DSH-04]", async () => {
    await expectRejected("x".repeat(1_048_576));
    const { cookie } = await enter(base, fake);
    const padded = new URLSearchParams({ logout_token: await fake.sign(claimsOf()), padding: "x".repeat(1_048_576) });
    expect((await ask(`${base}/sign-out/back-channel`, { body: padded })).status).toBe(400);
    expect((await ask(`${base}/`, { cookie })).text).toContain("dora@example.com");
  });

  test("a body that is too large, after which the client continues with its next request", async () => {
    const { hostname, port } = new URL(service.base);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const send = (method: string, path: string, body: string): Promise<number | string | undefined> =>
      new Promise((resolve) => {
        const sent = request(
          { agent, hostname, port, method, path, timeout: 5_000, headers: { "Content-Length": body.length } },
          (response) => {
            response.resume().on("end", () => resolve(response.statusCode));
          },
        );
        sent.on("timeout", () => sent.destroy(new Error("no response"))).on("error", ({ message }) => resolve(message));
        sent.end(body);
      });
    for (let round = 0; round < 3; round++) {
      const responses = [
        await send("POST", "/sign-out/back-channel", "x".repeat(1_048_576)),
        await send("GET", "/v1/health", ""),
      ];
      expect(responses).toEqual([400, 200]);
    }
    agent.destroy();
  });
});
