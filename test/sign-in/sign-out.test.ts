// Signing out ends the session on every instance and at the provider, and only the user can do it.
import { describe, expect, test } from "vitest";
import type { Browser } from "../fixtures/sign-in/browser.ts";
import { createBrowser } from "../fixtures/sign-in/browser.ts";
import type { RestResponse } from "../fixtures/service/service.ts";
import type { SignInFixture } from "../fixtures/sign-in/fixture.ts";
import { cleo } from "../fixtures/sign-in/users.ts";
import { share } from "../support/form.ts";
import {
  auditOf,
  ownerStatus,
  sendRequest,
  sessionCount,
  signIn,
  useSignInFixture,
} from "../fixtures/sign-in/fixture.ts";

const fixture = useSignInFixture();

/** Presses the page's button. */
function press(
  { base }: SignInFixture,
  cookie: string,
  more: { accept?: string; headers?: Record<string, string> } = {},
): Promise<RestResponse> {
  return sendRequest(`${base}/sign-out`, { method: "POST", cookie, origin: base, ...more });
}

/** Presses it and continues to where that leads, through the provider. */
async function signOut(one: SignInFixture, browser: Browser): Promise<void> {
  const { headers } = await press(one, browser.cookiesFor(one.base));
  const page = await browser.open(headers.get("location") ?? "");
  expect(page.url.origin).toBe(one.provider.issuer);
  const back = await browser.submit(page);
  expect([back.status, back.url.href]).toEqual([200, `${one.base}/`]);
}

test("signing out leads to the provider's end of session, for this user, and back to us [DSH-04]", async () => {
  const ann = await fixture().newUser();
  const { cookie } = await signIn(fixture(), ann);
  const { status, headers, text } = await press(fixture(), cookie);
  expect([status, text, headers.get("cache-control")]).toEqual([303, "", "no-store"]);
  const url = new URL(headers.get("location") ?? "");
  expect(url.origin + url.pathname).toBe(`${fixture().provider.issuer}/session/end`);
  expect(url.searchParams.get("post_logout_redirect_uri")).toBe(`${fixture().base}/`);
  const [, claims = ""] = (url.searchParams.get("id_token_hint") ?? "").split(".");
  expect(JSON.parse(Buffer.from(claims, "base64url").toString())).toMatchObject({
    sub: ann.subject,
    aud: "records-dashboard",
  });
});

test("signing out ends the provider's session: the next sign-in requires the password again [DSH-04]", async () => {
  const ann = await fixture().newUser();
  const { browser } = await signIn(fixture(), ann);
  // While the provider's session continues, it shows no form.
  expect((await browser.open(`${fixture().base}/sign-in`)).url.href).toBe(`${fixture().base}/`);
  await signOut(fixture(), browser);
  const form = await browser.open(`${fixture().base}/sign-in`);
  expect(form.url.origin).toBe(fixture().provider.issuer);
  expect(form.text).toContain('name="password"');
});

test("signing out clears the cookie, and the old one is rejected [DSH-04]", async () => {
  const ann = await fixture().newUser();
  const { browser, cookie } = await signIn(fixture(), ann);
  const { headers } = await press(fixture(), cookie);
  expect(headers.getSetCookie()).toEqual(["records_session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0"]);
  expect(await ownerStatus(fixture().base, cookie)).toBe(401);
  expect(await sessionCount(fixture().service, { subject: ann.subject })).toBe(
    await sessionCount(fixture().service, { subject: ann.subject, expires_at: { $gt: new Date() } }),
  );
  expect(browser.cookiesFor(fixture().base)).toBe(cookie);
  expect((await browser.open(`${fixture().base}/`)).text).not.toContain(ann.email);
});

test("signing out ends the same user's sessions in other browsers, on every instance, and no one else's [DSH-08]", async () => {
  const [ann, ben] = [await fixture().newUser(), await fixture().newUser()];
  const second = await fixture().service.another({ BASE_URL: fixture().base });
  try {
    const [one, other, bens] = [
      await signIn(fixture(), ann),
      await signIn(fixture(), ann, createBrowser()),
      await signIn(fixture(), ben),
    ];
    await press(fixture(), one.cookie);
    for (const base of [fixture().base, second.base]) {
      expect([
        await ownerStatus(base, one.cookie),
        await ownerStatus(base, other.cookie),
        await ownerStatus(base, bens.cookie),
      ]).toEqual([401, 401, 200]);
    }
  } finally {
    await second.stop();
  }
});

test("rejects a signed-out session on every instance, even if it is not deleted [DSH-08]", async () => {
  const ann = await fixture().newUser();
  const sessions = fixture().service.app.client.db().collection("dashboard_sessions");
  const [one, other] = [await signIn(fixture(), ann), await signIn(fixture(), ann, createBrowser())];
  const kept = await sessions.find({ subject: ann.subject }).toArray();
  await press(fixture(), one.cookie);
  await sessions.insertMany(kept);
  expect([await ownerStatus(fixture().base, one.cookie), await ownerStatus(fixture().base, other.cookie)]).toEqual([
    401, 401,
  ]);
});

test("signing out with a session that expired without use ends the user's other sessions too [DSH-08]", async () => {
  const ben = await fixture().newUser();
  const sessions = fixture().service.app.client.db().collection("dashboard_sessions");
  const [one, other] = [await signIn(fixture(), ben), await signIn(fixture(), ben, createBrowser())];
  const [oldest] = await sessions.find({ subject: ben.subject }).sort({ created_at: -1 }).skip(1).limit(1).toArray();
  await sessions.updateOne(oldest ?? {}, { $set: { used_at: new Date(Date.now() - 3 * 3_600_000) } });
  expect([await ownerStatus(fixture().base, one.cookie), await ownerStatus(fixture().base, other.cookie)]).toEqual([
    401, 200,
  ]);
  expect((await press(fixture(), one.cookie)).status).toBe(303);
  expect(await ownerStatus(fixture().base, other.cookie)).toBe(401);
});

test("the account's audit log has the sign-out with its request and its address", async () => {
  const ben = await fixture().newUser();
  const one = await signIn(fixture(), ben);
  const { headers } = await press(fixture(), one.cookie, { headers: { "X-Request-Id": "the-sign-out-of-ben" } });
  expect(headers.get("x-request-id")).toBe("the-sign-out-of-ben");
  const after = await signIn(fixture(), ben);
  const newest = (await auditOf(fixture().base, after.cookie)).find(({ event }) => event === "signed_out");
  expect(newest).toEqual({
    event: "signed_out",
    detail: null,
    key_prefix: null,
    person: ben.email,
    request_id: "the-sign-out-of-ben",
    address: "127.0.0.1",
  });
});

test("a user without an account can sign out as well", async () => {
  const { browser, cookie } = await signIn(fixture(), cleo);
  await signOut(fixture(), browser);
  expect((await sendRequest(`${fixture().base}/`, { cookie })).text).not.toContain("person-cleo");
});

test.each([
  ["no cookie", undefined],
  ["an unknown cookie", `records_session=${"A".repeat(43)}`],
  ["an empty cookie", "records_session="],
])("signing out with %s says that the session had ended, and writes nothing", async (_name, cookie) => {
  const count = (): Promise<number> => fixture().service.app.client.db().collection("audit_log").countDocuments();
  const before = [await sessionCount(fixture().service), await count()];
  const { status, headers } = await sendRequest(`${fixture().base}/sign-out`, {
    method: "POST",
    origin: fixture().base,
    ...(cookie === undefined ? {} : { cookie }),
  });
  expect([status, headers.get("location")]).toEqual([303, `${fixture().base}/?session-ended`]);
  expect([await sessionCount(fixture().service), await count()]).toEqual(before);
  const { text } = await sendRequest(headers.get("location") ?? "");
  expect(text).toContain("Your session had already ended.");
  expect((await sendRequest(`${fixture().base}/`)).text).not.toContain("had already ended");
});

test("the page of another user signs nobody out: it redirects to the page of the signed-in user [DSH-04]", async () => {
  const [ann, ben] = [await fixture().newUser(), await fixture().newUser()];
  const [anns, bens] = [await signIn(fixture(), ann), await signIn(fixture(), ben)];
  const form = { user: /name="user" value="([^"]*)"/.exec(anns.page.text)?.[1] ?? "" };
  const send = (cookie: string) =>
    sendRequest(`${fixture().base}/sign-out`, { cookie, origin: fixture().base, body: new URLSearchParams(form) });
  const { status, headers } = await send(bens.cookie);
  expect([status, headers.get("location"), headers.getSetCookie()]).toEqual([303, `${fixture().base}/`, []]);
  expect(await ownerStatus(fixture().base, bens.cookie)).toBe(200);
  await send(anns.cookie);
  expect([await ownerStatus(fixture().base, anns.cookie), await ownerStatus(fixture().base, bens.cookie)]).toEqual([
    401, 200,
  ]);
});

describe("only our own page can sign out", () => {
  const otherOrigins: readonly (readonly [string, (fixture: SignInFixture) => string | undefined])[] = [
    ["without an Origin", () => undefined],
    ["with the Origin null", () => "null"],
    ["with an empty Origin", () => ""],
    ["with another site's Origin", () => "https://evil.example"],
    [
      "with our host on another port",
      ({ base }: SignInFixture) => `http://localhost:${Number(new URL(base).port) + 1}`,
    ],
    ["with our port on another host name", ({ base }: SignInFixture) => base.replace("localhost", "127.0.0.1")],
    ["with our host over https", ({ base }: SignInFixture) => base.replace("http:", "https:")],
    ["with a longer host name than ours", ({ base }: SignInFixture) => `${base}.evil.example`],
    ["with our Origin and a slash", ({ base }: SignInFixture) => `${base}/`],
  ];
  test.each(share(otherOrigins, 5))("a form %s is 403 and the session continues [DSH-04]", async (_name, originOf) => {
    const ann = await fixture().newUser();
    const { cookie } = await signIn(fixture(), ann);
    const origin = originOf(fixture());
    const options = { method: "POST", cookie, ...(origin === undefined ? {} : { origin }) };
    const rejected = await sendRequest(`${fixture().base}/sign-out`, options);
    expect([rejected.status, rejected.body]).toEqual([
      403,
      {
        error: {
          code: "403",
          message: "Origin: must be that of the dashboard. Use the dashboard's own pages.",
          reason: "FOREIGN_ORIGIN",
        },
      },
    ]);
    const page = await sendRequest(`${fixture().base}/sign-out`, { ...options, accept: "text/html" });
    expect([page.status, page.headers.get("content-type")]).toEqual([403, "text/html; charset=utf-8"]);
    for (const { headers } of [rejected, page]) expect(headers.getSetCookie()).toEqual([]);
    expect(await ownerStatus(fixture().base, cookie)).toBe(200);
  });

  test.each(share(["GET", "HEAD", "PUT", "DELETE", "PATCH"], 2))(
    "the method %s is 405 and the session continues [DSH-04]",
    async (method) => {
      const ann = await fixture().newUser();
      const { cookie } = await signIn(fixture(), ann);
      for (const path of ["/sign-out", "/sign-out/back-channel"]) {
        const { status, headers } = await sendRequest(fixture().base + path, {
          method,
          cookie,
          origin: fixture().base,
        });
        expect([status, headers.get("allow"), headers.getSetCookie()]).toEqual([405, "POST, OPTIONS", []]);
      }
      expect(await ownerStatus(fixture().base, cookie)).toBe(200);
    },
  );

  test("OPTIONS lists the method and does nothing", async () => {
    const ann = await fixture().newUser();
    const { cookie } = await signIn(fixture(), ann);
    const { status, headers } = await sendRequest(`${fixture().base}/sign-out`, {
      method: "OPTIONS",
      cookie,
      origin: fixture().base,
    });
    expect([status, headers.get("allow")]).toEqual([204, "POST, OPTIONS"]);
    expect(await ownerStatus(fixture().base, cookie)).toBe(200);
  });

  test("a large body of the form makes no difference", async () => {
    const ann = await fixture().newUser();
    const { cookie } = await signIn(fixture(), ann);
    expect(
      (await sendRequest(`${fixture().base}/sign-out`, { cookie, origin: fixture().base, body: "x".repeat(300_000) }))
        .status,
    ).toBe(303);
    expect(await ownerStatus(fixture().base, cookie)).toBe(401);
  });
});
