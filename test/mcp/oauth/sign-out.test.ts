// After a sign-out at the dashboard only tokens of a later sign-in count, also if the provider's clock is wrong.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { FakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import {
  enter,
  json,
  logoutClaims,
  seconds,
  startFakeProvider,
  sendLogoutToken,
} from "../../fixtures/sign-in/fake-provider.ts";
import { newOwner, ownerStatus, sendRequest } from "../../fixtures/sign-in/fixture.ts";
import type { RestResponse, TestService } from "../../fixtures/service/service.ts";
import { startService } from "../../fixtures/service/service.ts";
import { accessToken, expectChallenge, offerIntrospection, send, statusOf } from "../../fixtures/sign-in/assistants.ts";

let fake: FakeProvider;
let service: TestService;
let second: TestService;
let base: string;
beforeEach(async () => {
  fake = await startFakeProvider();
  fake.metadata["end_session_endpoint"] = `${fake.issuer}/end`;
  service = await startService(fake.settings());
  base = service.app.baseUrl;
  second = await service.another({ ...fake.settings(), BASE_URL: base });
  await newOwner(service, fake.issuer, "person-dora", "dora@example.com");
});
afterEach(async () => {
  await second.stop();
  await service.stop();
  await fake.stop();
});

/** The status on both instances, which must be equal. */
async function everywhere(token: string): Promise<number> {
  const [one, other] = [await statusOf(base, token), await statusOf(second.base, token)];
  expect(other).toBe(one);
  return one;
}

/** Presses the dashboard's button, in a browser that signed in with these claims. */
async function signOut(cookie: string): Promise<RestResponse> {
  const response = await sendRequest(`${base}/sign-out`, { method: "POST", cookie, origin: base });
  expect(response.status).toBe(303);
  return response;
}

async function signInAndOut(claims: Record<string, unknown> = {}): Promise<void> {
  const { response, cookie } = await enter(base, fake, claims);
  expect([response.status, cookie === ""]).toEqual([303, false]);
  await signOut(cookie);
}

describe.each([
  ["with introspection", true],
  ["without introspection", false],
])("%s", (_name, introspects) => {
  beforeEach(() => {
    if (introspects) offerIntrospection(fake, () => ({ active: true }));
  });

  test.each<[string, Record<string, unknown>]>([
    ["in the session that was signed out", { sid: "own" }],
    ["in another browser's session", { sid: "other" }],
    ["without a session", {}],
  ])(
    "a token of a sign-in before the sign-out is 401 on every instance, also a refreshed one, %s [OAU-15]",
    async (_which, claims) => {
      const signedIn = seconds() - 100;
      const used = await accessToken(fake, { ...claims, iat: signedIn, auth_time: signedIn });
      expect(await everywhere(used)).toBe(200);
      await signInAndOut({ sid: "own", auth_time: signedIn });
      const refreshed = await accessToken(fake, {
        ...claims,
        iat: seconds() + 30,
        auth_time: signedIn,
        jti: "refreshed",
      });
      expect([await everywhere(used), await everywhere(refreshed)]).toEqual([401, 401]);
      expectChallenge(await send(base, `Bearer ${refreshed}`), base, /session has ended/);
    },
  );

  test("a sign-in in the same second as the sign-out does not count, and a later one does [OAU-15]", async () => {
    await signInAndOut({ auth_time: seconds() - 100 });
    const now = seconds();
    const [same, later] = [
      await accessToken(fake, { auth_time: now, sid: "s" }),
      await accessToken(fake, { auth_time: now + 4, sid: "t" }),
    ];
    expect([await everywhere(same), await everywhere(later)]).toEqual([401, 200]);
  });
});

test("a session stays ended after its sign-out, also for a later sign-in in it [OAU-16]", async () => {
  await signInAndOut({ sid: "own", auth_time: seconds() - 100 });
  const [again, other] = [
    await accessToken(fake, { sid: "own", auth_time: seconds() + 60 }),
    await accessToken(fake, { sid: "new", auth_time: seconds() + 60 }),
  ];
  expect([await everywhere(again), await everywhere(other)]).toEqual([401, 200]);
});

test("a token without a sign-in time is 401 after a sign-out, and the log says so once [OAU-15]", async () => {
  const token = await accessToken(fake, { sid: "s" });
  expect(await everywhere(token)).toBe(200);
  await signInAndOut();
  const issuedLater = await accessToken(fake, { iat: seconds() + 60, jti: "later" });
  expect([await everywhere(token), await everywhere(issuedLater)]).toEqual([401, 401]);
  expectChallenge(await send(base, `Bearer ${issuedLater}`), base, /has no auth_time to show a later sign-in/);
  expect(service.logLines.filter((line) => line.includes("auth_time")).length).toBe(1);
});

test("the sign-in time and the session of the introspection count if the token has none [OAU-15]", async () => {
  let introspected: Record<string, unknown> = { auth_time: seconds() - 100 };
  offerIntrospection(fake, () => ({ active: true, ...introspected }));
  await signInAndOut({ sid: "own", auth_time: seconds() - 100 });
  expect(await everywhere(await accessToken(fake, { jti: "1" }))).toBe(401);
  introspected = { auth_time: seconds() + 60 };
  expect(await everywhere(await accessToken(fake, { jti: "2" }))).toBe(200);
  introspected = { auth_time: seconds() + 60, sid: "own" };
  expect(await everywhere(await accessToken(fake, { jti: "3" }))).toBe(401);
});

describe("a provider's clock", () => {
  test("does not make an earlier sign-in look later if it is ahead [OAU-21]", async () => {
    const theirs = (): number => seconds() + 40;
    const elsewhere = await accessToken(fake, { sid: "other", auth_time: theirs(), iat: theirs() - 40 });
    expect(await everywhere(elsewhere)).toBe(200);
    await signInAndOut({ iat: theirs(), exp: theirs() + 600, auth_time: theirs() - 100 });
    expect(await everywhere(elsewhere)).toBe(401);
    expect(await everywhere(await accessToken(fake, { sid: "new", auth_time: theirs() + 4 }))).toBe(200);
  });

  test("does not make an earlier sign-in look later if it seems behind [OAU-21]", async () => {
    const elsewhere = await accessToken(fake, { sid: "other", auth_time: seconds() - 2 });
    await signInAndOut({ iat: seconds() - 300, auth_time: seconds() - 310 });
    expect(await everywhere(elsewhere)).toBe(401);
  });
});

describe("signing in at the dashboard again", () => {
  /** Completes the sign-in of a redirect to the provider; returns the response of the callback. */
  async function comeBack(sent: RestResponse, claims: Record<string, unknown>): Promise<RestResponse> {
    const url = new URL(sent.headers.get("location") ?? "");
    const { nonce = "", state = "" } = Object.fromEntries(url.searchParams);
    const cookie = (sent.headers.getSetCookie()[0] ?? "").split(";")[0] ?? "";
    const now = seconds();
    const idToken = await fake.sign({
      iss: fake.issuer,
      aud: "records",
      sub: "person-dora",
      iat: now,
      exp: now + 600,
      nonce,
      ...claims,
    });
    fake.responses.set(
      "/token",
      json({ access_token: "an-access-token", token_type: "Bearer", expires_in: 60, id_token: idToken }),
    );
    return sendRequest(`${base}/sign-in/callback?${new URLSearchParams({ code: "a-code", state }).toString()}`, {
      cookie,
    });
  }
  const sessionsOf = (): Promise<number> =>
    service.app.client.db().collection("dashboard_sessions").countDocuments({ subject: "person-dora" });

  test("requests the sign-in time from the provider, without a new sign-in [DSH-09]", async () => {
    const { searchParams } = new URL((await sendRequest(`${base}/sign-in`)).headers.get("location") ?? "");
    expect([searchParams.get("prompt"), searchParams.get("max_age")]).toEqual([null, "2592000"]);
  });

  test("leads once to a new sign-in, which succeeds, in an earlier session of the provider [DSH-09]", async () => {
    const old = seconds() - 100;
    await signInAndOut({ sid: "own", auth_time: old });
    const afresh = await comeBack(await sendRequest(`${base}/sign-in`), { sid: "other", auth_time: old });
    const { origin, pathname, searchParams } = new URL(afresh.headers.get("location") ?? "");
    expect([afresh.status, origin + pathname, searchParams.get("prompt"), searchParams.get("max_age")]).toEqual([
      303,
      `${fake.issuer}/auth`,
      "login",
      "0",
    ]);
    expect(await sessionsOf()).toBe(0);
    const done = await comeBack(afresh, { sid: "other", auth_time: seconds() + 4 });
    expect([done.status, done.headers.get("location")]).toEqual([303, `${base}/`]);
    const cookie =
      done.headers
        .getSetCookie()
        .find((line) => line.startsWith("records_session="))
        ?.split(";")[0] ?? "";
    expect([await ownerStatus(base, cookie), await ownerStatus(second.base, cookie)]).toEqual([200, 200]);
  });

  test.each<[string, Record<string, unknown>, RegExp]>([
    ["with an old time", { auth_time: 1_700_000_000 }, /not later than your last sign-out/],
    ["without a time", {}, /does not report the time of this sign-in \(auth_time\)/],
  ])("is rejected after a new sign-in %s, without a third attempt [DSH-09]", async (_name, claims, words) => {
    await signInAndOut({ sid: "own", auth_time: seconds() - 100 });
    const afresh = await comeBack(await sendRequest(`${base}/sign-in`), claims);
    const rejected = await comeBack(afresh, claims);
    expect([rejected.status, await sessionsOf()]).toEqual([400, 0]);
    expect(rejected.body.error.message).toMatch(words);
  });

  test("ends a session of the provider that was signed out here, also for a later sign-in [DSH-09]", async () => {
    await signInAndOut({ sid: "own", auth_time: seconds() - 100 });
    const response = await comeBack(await sendRequest(`${base}/sign-in`), { sid: "own", auth_time: seconds() + 60 });
    const { origin, pathname, searchParams } = new URL(response.headers.get("location") ?? "");
    expect([
      response.status,
      origin + pathname,
      searchParams.get("post_logout_redirect_uri"),
      await sessionsOf(),
    ]).toEqual([303, `${fake.issuer}/end`, `${base}/`, 0]);
  });

  test("succeeds for the first time with a provider that reports no sign-in time [DSH-09]", async () => {
    const { response, cookie } = await enter(base, fake, { auth_time: undefined });
    expect([response.status, await ownerStatus(base, cookie)]).toEqual([303, 200]);
  });
});

test("a logout token with a session ends that session and tokens without a session [OAU-19]", async () => {
  const signedIn = seconds() - 100;
  const [own, other, nameless] = await Promise.all(
    [{ sid: "own" }, { sid: "other" }, {}].map((claims) => accessToken(fake, { ...claims, auth_time: signedIn })),
  );
  expect((await sendLogoutToken(base, await fake.sign(logoutClaims(fake, { sid: "own" })))).status).toBe(200);
  expect([await everywhere(own ?? ""), await everywhere(other ?? ""), await everywhere(nameless ?? "")]).toEqual([
    401, 200, 401,
  ]);
});

test("signing out revokes our own token at the provider; it succeeds even if the provider fails or does not respond [DSH-10]", async () => {
  fake.metadata["revocation_endpoint"] = `${fake.issuer}/revoke`;
  const third = await service.another({ ...fake.settings(), BASE_URL: base });
  try {
    for (const [at, handle] of [json({}), json({ error: "x" }, 500), (): undefined => undefined].entries()) {
      let sent = "";
      fake.responses.set("/revoke", (request, response) => {
        request.on("data", (chunk: Buffer) => (sent += chunk.toString()));
        request.on("end", () => void handle(request, response));
      });
      const { cookie } = await enter(third.base, fake, { auth_time: seconds() + 30 * (at + 1) });
      expect((await sendRequest(`${third.base}/sign-out`, { method: "POST", cookie, origin: base })).status).toBe(303);
      expect(new URLSearchParams(sent).get("token")).toBe("an-access-token");
      expect(await ownerStatus(base, cookie)).toBe(401);
    }
  } finally {
    await third.stop();
  }
});

test("the start warns about a provider without MCP_AUDIENCE, and not about one with it [OAU-23]", async () => {
  const warnings = (lines: readonly string[]): number =>
    lines.filter((line) => line.includes("MCP_AUDIENCE is not set")).length;
  const third = await service.another({ ...fake.settings(), BASE_URL: base, MCP_AUDIENCE: "records" });
  try {
    expect([warnings(service.logLines), warnings(third.logLines)]).toEqual([1, 0]);
  } finally {
    await third.stop();
  }
});
