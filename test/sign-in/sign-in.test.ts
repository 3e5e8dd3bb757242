// Signing in: from a page without a user over the provider's form to the page of the user.
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { ann, ben } from "../fixtures/sign-in/users.ts";
import {
  almostIn,
  auditOf,
  begin,
  ownerStatus,
  sendRequest,
  sessionOf,
  signIn,
  useSignInFixture,
} from "../fixtures/sign-in/fixture.ts";

const fixture = useSignInFixture();

test("the page of a user who is not signed in has a link to sign in and nothing about any user [DSH-01]", async () => {
  await signIn(fixture(), ann);
  for (const cookie of [undefined, "records_session=", "records_session=x", `records_session=${"A".repeat(43)}`]) {
    const { status, headers, text } = await sendRequest(`${fixture().base}/`, cookie === undefined ? {} : { cookie });
    expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(text).toMatch(/<a [^>]*href="\/sign-in"/);
    expect(text).not.toContain("@example.com");
    expect(text).not.toContain("/sign-out");
    expect(headers.getSetCookie()).toEqual([]);
  }
});

test("a user signs in on the provider's form and returns to their own page [DSH-01]", async () => {
  const { page, browser, cookie } = await signIn(fixture(), ann);
  expect([page.status, page.url.href]).toEqual([200, `${fixture().base}/`]);
  expect(page.text).toContain("ann@example.com");
  expect(page.text).toMatch(
    /<form [^>]*method="post"[^>]*action="\/sign-out"|<form [^>]*action="\/sign-out"[^>]*method="post"/i,
  );
  expect(cookie).toMatch(/^records_session=[A-Za-z0-9_-]{43}$/);
  expect((await browser.open(`${fixture().base}/`)).text).toContain("ann@example.com");
  expect(await ownerStatus(fixture().base, cookie)).toBe(200);
});

test("each user has their own page, also at the same time [DSH-01]", async () => {
  const [one, other] = await Promise.all([signIn(fixture(), ann), signIn(fixture(), ben)]);
  expect(one.page.text).toContain("ann@example.com");
  expect(one.page.text).not.toContain("ben@example.com");
  expect(other.page.text).toContain("ben@example.com");
  expect(other.page.text).not.toContain("ann@example.com");
});

test("the redirect to the provider requests a code with PKCE, a state and a nonce, and returns only to us [DSH-01]", async () => {
  const { provider, base } = fixture();
  const { response, leadsTo } = await begin(base);
  expect([response.status, response.headers.get("cache-control"), response.text]).toEqual([303, "no-store", ""]);
  expect(leadsTo.origin + leadsTo.pathname).toBe(`${provider.issuer}/auth`);
  const { state, nonce, code_challenge: challenge, ...rest } = Object.fromEntries(leadsTo.searchParams);
  expect(rest).toEqual({
    client_id: "records-dashboard",
    response_type: "code",
    redirect_uri: `${base}/sign-in/callback`,
    scope: "openid email profile",
    code_challenge_method: "S256",
    max_age: "2592000",
  });
  for (const random of [state, nonce, challenge]) expect(random).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(new Set([state, nonce, challenge]).size).toBe(3);
  const again = Object.fromEntries((await begin(base)).leadsTo.searchParams);
  for (const random of [again["state"], again["nonce"], again["code_challenge"]])
    expect([state, nonce, challenge]).not.toContain(random);
});

test("parameters that the browser adds do not change the address to which the provider returns", async () => {
  const { base } = fixture();
  const { leadsTo } = await begin(base, {
    headers: {
      "X-Forwarded-Host": "evil.example",
      "X-Forwarded-Proto": "https",
      Forwarded: "host=evil.example",
      Origin: "https://evil.example",
      Referer: "https://evil.example/",
    },
  });
  expect(leadsTo.searchParams.get("redirect_uri")).toBe(`${base}/sign-in/callback`);
  const redirect = await sendRequest(
    `${base}/sign-in?redirect_uri=https://evil.example/&return_to=https://evil.example/&state=mine&prompt=none`,
  );
  const url = new URL(redirect.headers.get("location") ?? "");
  expect(url.href).not.toContain("evil.example");
  expect([url.searchParams.get("state") === "mine", url.searchParams.has("prompt")]).toEqual([false, false]);
});

describe("the cookies", () => {
  test("last ten minutes during a sign-in, are sent only to us, and reveal nothing of their content", async () => {
    const { line, leadsTo, cookie } = await begin(fixture().base);
    expect(line).toMatch(/^records_sign_in=[^;,\s]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/);
    const seen =
      cookie +
      cookie
        .slice("records_sign_in=".length)
        .split(".")
        .map((part) => Buffer.from(part, "base64url").toString("latin1"))
        .join("");
    for (const secret of ["state", "nonce"]) expect(seen).not.toContain(leadsTo.searchParams.get(secret));
    expect(seen).not.toContain("verifier");
  });

  test("have 43 random characters for a session, are hidden from scripts, and end with the browser", async () => {
    const { back, cookie } = await almostIn(fixture(), ann);
    const response = await sendRequest(back, { cookie });
    expect([response.status, response.headers.get("location"), response.headers.get("cache-control")]).toEqual([
      303,
      `${fixture().base}/`,
      "no-store",
    ]);
    const lines = response.headers.getSetCookie();
    expect(lines).toHaveLength(2);
    expect(lines).toContain("records_sign_in=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0");
    expect(lines.find((line) => line.startsWith("records_session="))).toMatch(
      /^records_session=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Lax$/,
    );
  });

  test("are for https only, and cannot be set by a sibling site, if the base URL is https", async () => {
    const secure = await fixture().service.another({ BASE_URL: "https://records.example.com/" });
    try {
      const { response, line, leadsTo } = await begin(secure.base);
      expect(response.status).toBe(303);
      expect(line).toMatch(/^__Host-records_sign_in=[^;,\s]+; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=600$/);
      expect(leadsTo.searchParams.get("redirect_uri")).toBe("https://records.example.com/sign-in/callback");
      const signedOut = await sendRequest(`${secure.base}/sign-out`, {
        method: "POST",
        origin: "https://records.example.com",
      });
      expect(signedOut.headers.getSetCookie()).toEqual([
        "__Host-records_session=; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=0",
      ]);
      const { cookie } = await signIn(fixture(), ann);
      expect(await ownerStatus(secure.base, cookie)).toBe(401);
      expect(await ownerStatus(secure.base, `__Host-${cookie}`)).toBe(200);
    } finally {
      await secure.stop();
    }
  });

  test("are not stored in MongoDB in a form that signs anybody in", async () => {
    const { cookie } = await signIn(fixture(), ann);
    const value = cookie.slice("records_session=".length);
    const all = JSON.stringify(
      await fixture().service.app.client.db().collection("dashboard_sessions").find().toArray(),
    );
    expect(all).toContain("person-ann");
    expect(all).not.toContain(value);
    expect(all).not.toContain(Buffer.from(value, "base64url").toString("hex"));
    const known = [
      Buffer.from(value),
      Buffer.from(value, "base64url"),
      createHash("sha256").update(value).digest(),
    ].map((bytes) => bytes.toString("hex"));
    for (const { _id } of await fixture().service.app.client.db().collection("dashboard_sessions").find().toArray()) {
      const bytes = Buffer.from((_id as unknown as { buffer: Uint8Array }).buffer);
      expect(known).not.toContain(bytes.toString("hex"));
      for (const form of ["utf8", "base64url", "hex"] as const)
        expect(await ownerStatus(fixture().base, `records_session=${encodeURIComponent(bytes.toString(form))}`)).toBe(
          401,
        );
    }
  });

  test("are new at each sign-in, which ends the browser's previous session", async () => {
    const { browser, cookie: before } = await signIn(fixture(), ann);
    const { cookie: after } = await signIn(fixture(), ann, browser);
    expect(after).toMatch(/^records_session=[A-Za-z0-9_-]{43}$/);
    expect(after).not.toBe(before);
    expect([await ownerStatus(fixture().base, before), await ownerStatus(fixture().base, after)]).toEqual([401, 200]);
  });

  test("are never adopted from somebody who planted them before", async () => {
    const planted = `records_session=${"p".repeat(43)}`;
    const { back, cookie } = await almostIn(fixture(), ann);
    const response = await sendRequest(back, { cookie: `${planted}; ${cookie}` });
    expect(response.status).toBe(303);
    expect(sessionOf(response)).not.toBe(planted);
    expect([
      await ownerStatus(fixture().base, planted),
      await ownerStatus(fixture().base, sessionOf(response)),
    ]).toEqual([401, 200]);
  });

  test("do not show an attacker who planted the cookie of a session what the user does", async () => {
    const { cookie: attackers } = await signIn(fixture(), ben);
    const { back, cookie } = await almostIn(fixture(), ann);
    const response = await sendRequest(back, { cookie: `${attackers}; ${cookie}` });
    expect(await ownerStatus(fixture().base, attackers)).toBe(401);
    expect((await sendRequest(`${fixture().base}/`, { cookie: sessionOf(response) })).text).toContain(
      "ann@example.com",
    );
  });
});

test("a sign-in that one instance began is completed by another, and known to all at once [DSH-01]", async () => {
  const second = await fixture().service.another({ BASE_URL: fixture().base });
  try {
    const { back, cookie } = await almostIn(fixture(), ann);
    const response = await sendRequest(second.base + back.pathname + back.search, { cookie });
    expect(response.status).toBe(303);
    for (const base of [second.base, fixture().base]) expect(await ownerStatus(base, sessionOf(response))).toBe(200);
    expect((await sendRequest(`${fixture().base}/`, { cookie: sessionOf(response) })).text).toContain(
      "ann@example.com",
    );
  } finally {
    await second.stop();
  }
});

test("the account's audit log has the sign-in with its request and its address [KEY-19]", async () => {
  const { back, cookie } = await almostIn(fixture(), ben);
  const response = await sendRequest(back, { cookie, headers: { "X-Request-Id": "the-sign-in-of-ben" } });
  expect(response.headers.get("x-request-id")).toBe("the-sign-in-of-ben");
  const [newest] = await auditOf(fixture().base, sessionOf(response));
  expect(newest).toEqual({
    event: "signed_in",
    detail: null,
    key_prefix: null,
    person: "ben@example.com",
    request_id: "the-sign-in-of-ben",
    address: "127.0.0.1",
  });
});
