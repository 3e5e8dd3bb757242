// Which ID tokens sign a user in, and how their claims are used.
import { SignJWT, UnsecuredJWT } from "jose";
import { expect, test } from "vitest";
import {
  clientSecret,
  enter,
  idClaims,
  json,
  logoutClaims,
  seconds,
  startFakeProvider,
  sendLogoutToken,
} from "../fixtures/sign-in/fake-provider.ts";
import { newKey } from "../fixtures/sign-in/keys.ts";
import { begin, newOwner, ownerStatus, sendRequest, sessionCount, sessionOf } from "../fixtures/sign-in/fixture.ts";
import { useFakeProvider } from "../support/at-fake-provider.ts";

const { fake, service, base } = useFakeProvider();

test.each<[string, () => Record<string, unknown>]>([
  ["of another sign-in", () => ({ nonce: "another" })],
  ["of no sign-in", () => ({ nonce: undefined })],
  ["of another issuer", () => ({ iss: "https://evil.example" })],
  ["for another service", () => ({ aud: "another" })],
  ["for several services and meant for another one", () => ({ aud: ["records", "another"], azp: "another" })],
  ["that is expired", () => ({ exp: seconds() - 120 })],
])("an ID token %s signs nobody in [DSH-01]", async (_name, changes) => {
  const before = await sessionCount(service());
  const { response, cookie } = await enter(base(), fake(), changes());
  expect([response.status, cookie, await sessionCount(service())]).toEqual([400, "", before]);
});

test.each<[string, () => Record<string, unknown>]>([
  ["without a user", () => ({ sub: undefined })],
  ["whose user is not a text", () => ({ sub: { $ne: "" } })],
  ["without an expiry", () => ({ exp: undefined })],
  ["without a time", () => ({ iat: undefined })],
])("an ID token %s is a failure of the provider and signs nobody in [DSH-01]", async (_name, changes) => {
  const before = await sessionCount(service());
  const { response, cookie } = await enter(base(), fake(), changes());
  expect([400, 503]).toContain(response.status);
  expect([cookie, await sessionCount(service())]).toEqual(["", before]);
});

test("an ID token that is unsigned, or signed with a secret, signs nobody in [DSH-01]", async () => {
  const before = await sessionCount(service());
  for (const token of [
    async (nonce: string) => new UnsecuredJWT(idClaims(fake(), { nonce })).encode(),
    (nonce: string) =>
      new SignJWT(idClaims(fake(), { nonce })).setProtectedHeader({ alg: "HS256" }).sign(Buffer.from(clientSecret)),
    async () => "garbage",
    async () => "",
  ]) {
    const { response, cookie } = await enter(base(), fake(), {}, token);
    expect([400, 503]).toContain(response.status);
    expect(cookie).toBe("");
  }
  expect(await sessionCount(service())).toBe(before);
});

test("rejects an ID token with a foreign signature or changed claims [DSH-06]", async () => {
  const before = await sessionCount(service());
  const stranger = await newKey("stranger");
  for (const header of [{}, { kid: "stranger" }, { kid: undefined }]) {
    const { response, cookie } = await enter(base(), fake(), {}, (nonce) =>
      fake().sign(idClaims(fake(), { nonce }), header, stranger.privateKey),
    );
    expect([response.status, cookie]).toEqual([400, ""]);
  }
  const changed = await enter(base(), fake(), {}, async (nonce) => {
    const [header, , signature] = (await fake().sign(idClaims(fake(), { nonce }))).split(".");
    return `${header}.${Buffer.from(JSON.stringify(idClaims(fake(), { nonce, sub: "person-emil" }))).toString("base64url")}.${signature}`;
  });
  expect([changed.response.status, changed.cookie, await sessionCount(service())]).toEqual([400, "", before]);
});

test("accepts an ID token under a newly rotated key [DSH-06]", async () => {
  expect((await enter(base(), fake())).response.status).toBe(303);
  await fake().rotate();
  expect((await enter(base(), fake())).response.status).toBe(303);
});

test("a token response without an ID token signs nobody in [DSH-01]", async () => {
  const before = await sessionCount(service());
  const { leadsTo, cookie } = await begin(base());
  fake().tokens = { access_token: "an-access-token", token_type: "Bearer" };
  const response = await sendRequest(
    `${base()}/sign-in/callback?code=a-code&state=${leadsTo.searchParams.get("state")}`,
    {
      cookie,
    },
  );
  expect([400, 503]).toContain(response.status);
  expect([sessionOf(response), await sessionCount(service())]).toEqual(["", before]);
});

test("the token endpoint gets the code, the verifier and our secret, and its rejection of the code is 400", async () => {
  const { leadsTo, cookie } = await begin(base());
  let sent = "";
  let authorization = "";
  fake().responses.set("/token", (request, response) => {
    authorization = request.headers.authorization ?? "";
    request.on("data", (chunk) => (sent += String(chunk)));
    request.on("end", () => json({ error: "invalid_grant" }, 400)(request, response));
  });
  const back = `${base()}/sign-in/callback?code=the-code&state=${leadsTo.searchParams.get("state")}`;
  expect((await sendRequest(back, { cookie })).status).toBe(400);
  const form = new URLSearchParams(sent);
  expect([form.get("grant_type"), form.get("code"), form.get("redirect_uri")]).toEqual([
    "authorization_code",
    "the-code",
    `${base()}/sign-in/callback`,
  ]);
  expect(form.get("code_verifier")).toMatch(/^[A-Za-z0-9_-]{43,128}$/);
  expect(authorization + sent).toContain(authorization === "" ? clientSecret : "Basic ");
  fake().responses.clear();
});

test("a rejected sign-in leaves no code, no state, no token and no user in the log", async () => {
  const secrets = ["a-code", "an-access-token", "dora@example.com", "person-dora", "Dora Example", clientSecret];
  for (const changes of [
    { nonce: "another" },
    { iss: "https://evil.example" },
    { aud: "another" },
    { exp: 1 },
    { sub: undefined },
    { iat: undefined },
    {},
  ] as Record<string, unknown>[]) {
    const { leadsTo, cookie } = await begin(base());
    const { state = "", nonce = "" } = Object.fromEntries(leadsTo.searchParams);
    const token = await fake().sign(idClaims(fake(), { nonce, ...changes }));
    fake().tokens = { access_token: "an-access-token", token_type: "Bearer", id_token: token };
    for (const query of [
      { code: "a-code", state: "another" },
      { code: "a-code", state, iss: "https://evil.example" },
      { error: "server_error", state },
      { code: "a-code", state },
    ]) {
      await sendRequest(
        `${base()}/sign-in/callback?${new URLSearchParams(query as Record<string, string>).toString()}`,
        {
          cookie,
        },
      );
    }
    secrets.push(state, nonce, token, cookie.split("=")[1] ?? "-");
  }
  await sendLogoutToken(base(), await fake().sign(logoutClaims(fake(), { aud: "another" })));
  fake().responses.set(
    "/token",
    (_request, response) =>
      void response.writeHead(200, { "Content-Type": "application/json" }).end('{"id_token":"dora@example.com",'),
  );
  const { leadsTo, cookie } = await begin(base());
  expect(
    (await sendRequest(`${base()}/sign-in/callback?code=a-code&state=${leadsTo.searchParams.get("state")}`, { cookie }))
      .status,
  ).toBe(503);
  fake().responses.clear();
  const log = service().logLines.join("\n");
  expect(log).toContain("request failed");
  expect(log).toMatch(/"level":40,.*"code":"OAUTH_INVALID_RESPONSE",.*"msg":"sign-in failed"/);
  for (const secret of secrets) expect(log.includes(secret), secret).toBe(false);
});

test("a user is identified by the issuer and the subject, byte for byte, and not by their email", async () => {
  await newOwner(service(), fake().issuer, "person-gus", "gus@example.com");
  expect(
    await ownerStatus(
      base(),
      (await enter(base(), fake(), { sub: "person-gus", email: "another@example.com" })).cookie,
    ),
  ).toBe(200);
  for (const sub of ["person-Gus", "person-gus ", " person-gus", "person", "gus@example.com", "person-gus\0"]) {
    expect(
      await ownerStatus(
        base(),
        (await enter(base(), fake(), { sub, email: "gus@example.com", email_verified: true })).cookie,
      ),
      sub,
    ).toBe(403);
  }
});

test("the same subject at another provider is another user", async () => {
  await newOwner(service(), "https://other.example", "person-hal", "hal@example.com");
  await newOwner(service(), fake().issuer, "person-ida", "ida@example.com");
  expect(await ownerStatus(base(), (await enter(base(), fake(), { sub: "person-hal" })).cookie)).toBe(403);
  // The issuer of one identity with the subject of another is a third one.
  const { accounts } = service().app.services;
  const ida = await accounts.ofIdentity({ issuer: fake().issuer, subject: "person-ida" }, undefined);
  if (ida !== undefined) await accounts.link(ida._id, { issuer: "https://other.example", subject: "person-jan" });
  expect(await ownerStatus(base(), (await enter(base(), fake(), { sub: "person-jan" })).cookie)).toBe(403);
});

test("a user without an email has the name of their subject, and can sign out as well", async () => {
  const { cookie } = await enter(base(), fake(), { sub: "person-without-email", email: undefined, name: undefined });
  expect((await sendRequest(`${base()}/`, { cookie })).text).toContain("person-without-email");
  await newOwner(service(), fake().issuer, "person-without-email", "someone@example.com");
  await sendRequest(`${base()}/sign-out`, { method: "POST", cookie, origin: base() });
  const entries = await service()
    .app.client.db()
    .collection("audit_log")
    .find({ person: "person-without-email" })
    .toArray();
  expect(entries.map(({ event }) => String(event))).toEqual(["signed_out"]);
});

test("a provider without an end of session is not contacted: signing out ends our session and leads to the start page [DSH-04]", async () => {
  const { cookie } = await enter(base(), fake(), { sub: "person-kim", email: "kim@example.com" });
  expect((await sendRequest(`${base()}/`, { cookie })).text).toContain("kim@example.com");
  const { status, headers } = await sendRequest(`${base()}/sign-out`, { method: "POST", cookie, origin: base() });
  expect([status, headers.get("location")]).toEqual([303, `${base()}/`]);
  expect((await sendRequest(`${base()}/`, { cookie })).text).not.toContain("kim@example.com");
});

test("ignores claims that are not strings", async () => {
  const { response, cookie } = await enter(base(), fake(), {
    sub: "person-odd",
    email: { $gt: "" },
    name: ["x"],
    sid: 7,
  });
  expect(response.status).toBe(303);
  const kept = await service().app.client.db().collection("dashboard_sessions").findOne({ subject: "person-odd" });
  expect(Object.keys(kept ?? {}).sort()).toEqual([
    "_id",
    "authenticated_at",
    "created_at",
    "expires_at",
    "id_token",
    "issuer",
    "provider_ahead_ms",
    "subject",
    "used_at",
  ]);
  expect((await sendRequest(`${base()}/`, { cookie })).status).toBe(200);
});

test("shows the name of a user as text on the page, whatever it contains", async () => {
  const hostile = `"><img src=x onerror=alert(1)>'</title><script>alert(1)</script>&amp;`;
  for (const account of [false, true]) {
    const sub = `${account ? "with" : "without"}-account${hostile}`;
    if (account) await newOwner(service(), fake().issuer, sub, "hostile@example.com");
    for (const claims of [
      { email: hostile, name: hostile },
      { email: undefined, name: hostile },
      { email: undefined, name: undefined },
    ]) {
      const { cookie } = await enter(base(), fake(), { sub, ...claims });
      const { status, text } = await sendRequest(`${base()}/`, { cookie });
      expect(status).toBe(200);
      expect(text).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
      for (const active of ["<script>alert", "<img src=x", "</title><script"]) expect(text).not.toContain(active);
    }
  }
});

test.each([
  ["with a slash that the provider's name does not have", "/", ""],
  ["without the slash of the provider's name", "", "/"],
])(
  "if OIDC_ISSUER is written %s, users sign in and the provider signs them out [DSH-01, DSH-04]",
  async (_name, configured, reported) => {
    const other = await startFakeProvider();
    other.metadata["issuer"] = other.issuer + reported;
    const one = await service().another({ ...other.settings(), OIDC_ISSUER: other.issuer + configured });
    const at = one.app.baseUrl;
    try {
      const { response, cookie } = await enter(at, other, { iss: other.issuer + reported });
      expect(response.status).toBe(303);
      expect(
        (await sendLogoutToken(at, await other.sign(logoutClaims(other, { iss: other.issuer + reported })))).status,
      ).toBe(200);
      expect((await sendRequest(`${at}/`, { cookie })).text).not.toContain("dora@example.com");
    } finally {
      await one.stop();
      await other.stop();
    }
  },
);
