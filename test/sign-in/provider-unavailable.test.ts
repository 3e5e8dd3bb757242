// While the provider is unavailable, silent or broken, what needs it is 503, and the rest continues.
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type { TestService } from "../fixtures/service/service.ts";
import type { ResponseHandler } from "../fixtures/sign-in/fake-provider.ts";
import {
  away,
  enter,
  json,
  logoutClaims,
  seconds,
  silent,
  startFakeProvider,
  sendLogoutToken,
} from "../fixtures/sign-in/fake-provider.ts";
import { advanceClock } from "../support/advance-clock.ts";
import { share } from "../support/form.ts";
import { begin, newOwner, ownerStatus, sendRequest, sessionCount } from "../fixtures/sign-in/fixture.ts";
import { useFakeProvider } from "../support/at-fake-provider.ts";

const { fake, service, base } = useFakeProvider();

vi.setConfig({ testTimeout: 60_000 });

const configuration = "/.well-known/openid-configuration";
const started: TestService[] = [];

beforeAll(async () => {
  await newOwner(service(), fake().issuer, "person-dora", "dora@example.com");
});
afterEach(async () => {
  fake().responses.clear();
  for (const one of started.splice(0)) await one.stop();
});

/** An instance that has never reached the provider. */
async function cold(environment: Record<string, string> = {}): Promise<string> {
  const one = await service().another({ BASE_URL: base(), ...environment });
  started.push(one);
  return one.base;
}

async function expectUnavailable(at: string): Promise<void> {
  const json = await sendRequest(`${at}/sign-in`, { accept: "application/json" });
  expect([json.status, json.body, json.headers.getSetCookie()]).toEqual([
    503,
    { error: { code: "503", message: expect.any(String), reason: "UNAVAILABLE" } },
    [],
  ]);
  const page = await sendRequest(`${at}/sign-in`, { accept: "text/html" });
  expect([page.status, page.headers.get("content-type"), page.headers.get("cache-control")]).toEqual([
    503,
    "text/html; charset=utf-8",
    "no-store",
  ]);
  expect(page.text).toContain(page.headers.get("x-request-id"));
}

test("a service starts without its provider, and serves everything that needs none [DSH-01]", async () => {
  fake().responses.set("*", away);
  const at = await cold();
  const { key } = await service().account();
  expect((await sendRequest(`${at}/v1/sessions`, { headers: { Authorization: `Bearer ${key}` } })).status).toBe(200);
  expect((await sendRequest(`${at}/v1/health`)).status).toBe(200);
  const page = await sendRequest(`${at}/`);
  expect([page.status, /href="\/sign-in"/.test(page.text)]).toEqual([200, true]);
  await expectUnavailable(at);
});

test("a provider whose name does not resolve is 503 as well [DSH-01]", async () => {
  await expectUnavailable(
    await cold({
      OIDC_ISSUER: "https://no-such-host.invalid",
      OIDC_CLIENT_ID: "records",
      OIDC_CLIENT_SECRET: "a-secret-of-the-tests",
    }),
  );
});

test("open sessions continue while the provider is unavailable, until the user signs out [DSH-04]", async () => {
  const { cookie } = await enter(base(), fake());
  fake().responses.set("*", away);
  for (const at of [base(), await cold()]) {
    expect(await ownerStatus(at, cookie)).toBe(200);
    expect((await sendRequest(`${at}/`, { cookie })).text).toContain("dora@example.com");
    expect((await sendRequest(`${at}/v1/api-key`, { cookie })).status).toBe(404);
  }
  const { status, headers } = await sendRequest(`${await cold()}/sign-out`, { method: "POST", cookie, origin: base() });
  expect([status, headers.get("location")]).toEqual([303, `${base()}/`]);
  expect(await ownerStatus(base(), cookie)).toBe(401);
});

test("a sign-out is completed while the provider does not respond, on an instance that never reached it [DSH-04]", async () => {
  // Of a user who has not signed out a moment ago.
  const { cookie } = await enter(base(), fake(), { sub: "person-eve" });
  fake().responses.set("*", silent);
  const before = await sessionCount(service());
  const { status, headers } = await sendRequest(`${await cold()}/sign-out`, { method: "POST", cookie, origin: base() });
  expect([status, headers.get("location")]).toEqual([303, `${base()}/`]);
  expect(await sessionCount(service())).toBeLessThan(before);
});

test("once the provider is back, sign-in works without a restart [DSH-01]", async () => {
  fake().responses.set("*", away);
  const at = await cold();
  await expectUnavailable(at);
  fake().responses.clear();
  const { response, cookie } = await enter(at, fake(), { auth_time: seconds() + 60 });
  expect(response.status).toBe(303);
  expect(await ownerStatus(at, cookie)).toBe(200);
});

test("the metadata of a provider stays in use while it is unavailable: a sign-in can start, but not be completed", async () => {
  await begin(base());
  const { cookie, leadsTo } = await begin(base());
  fake().responses.set("*", away);
  expect((await begin(base())).response.status).toBe(303);
  const before = await sessionCount(service());
  const back = `${base()}/sign-in/callback?code=a-code&state=${leadsTo.searchParams.get("state")}`;
  expect((await sendRequest(back, { cookie })).status).toBe(503);
  const page = await sendRequest(back, { cookie, accept: "text/html" });
  expect([page.status, page.headers.get("content-type")]).toEqual([503, "text/html; charset=utf-8"]);
  expect(await sessionCount(service())).toBe(before);
});

test("many concurrent sign-ins request the provider's metadata once", async () => {
  const at = await cold();
  fake().requestedPaths.length = 0;
  const responses = await Promise.all(Array.from({ length: 10 }, () => begin(at)));
  responses.push(await begin(at));
  expect(responses.map(({ response }) => response.status)).toEqual(Array.from({ length: 11 }, () => 303));
  expect(fake().requestedPaths).toEqual([configuration]);
});

test("the metadata of a provider is requested again after an hour, and stays in use if the provider is unavailable", async () => {
  const at = await cold();
  await begin(at);
  await advanceClock(59 * 60, service().app.client);
  fake().requestedPaths.length = 0;
  await begin(at);
  expect(fake().requestedPaths).toEqual([]);
  await advanceClock(2 * 60, service().app.client);
  fake().responses.set(configuration, away);
  expect((await begin(at)).response.status).toBe(303);
  fake().responses.set(
    configuration,
    json({ ...fake().metadata, authorization_endpoint: "https://moved.example/auth" }),
  );
  // No request waits for it: the next one gets the new metadata.
  await vi.waitFor(async () => expect((await begin(at)).leadsTo.origin).toBe("https://moved.example"), {
    timeout: 10_000,
  });
});

test("a provider that does not respond is 503, at the start, for the code and for a logout token [DSH-01]", async () => {
  const fakes = [await startFakeProvider(), await startFakeProvider()] as const;
  const [neverReached, reached] = (await Promise.all(
    fakes.map((one) => service().another({ ...one.settings(), BASE_URL: base() })),
  )) as [TestService, TestService];
  try {
    const { cookie, leadsTo } = await begin(reached.base);
    for (const one of fakes) one.responses.set("*", silent);
    const back = `${reached.base}/sign-in/callback?code=a-code&state=${leadsTo.searchParams.get("state")}`;
    const responses = await Promise.all([
      sendRequest(`${neverReached.base}/sign-in`),
      sendRequest(back, { cookie }),
      sendLogoutToken(reached.base, await fakes[1].sign(logoutClaims(fakes[1]))),
      // Everything else continues meanwhile.
      sendRequest(`${neverReached.base}/`),
      sendRequest(`${reached.base}/`),
    ]);
    expect(responses.map(({ status }) => status)).toEqual([503, 503, 503, 200, 200]);
  } finally {
    await Promise.all([neverReached, reached].map((one) => one.stop()));
    await Promise.all(fakes.map((one) => one.stop()));
  }
});

const text =
  (type: string, body: string, status = 200): ResponseHandler =>
  (_request, response) =>
    void response.writeHead(status, { "Content-Type": type }).end(body);
const endless: ResponseHandler = (request, response) => {
  response.writeHead(200, { "Content-Type": "application/json" }).write("{");
  const timer = setInterval(() => response.write(" "), 50);
  request.socket.once("close", () => clearInterval(timer));
};
const flood: ResponseHandler = (request, response) => {
  response.writeHead(200, { "Content-Type": "application/json" }).write("{");
  const timer = setInterval(() => response.write(" ".repeat(200_000)), 5);
  request.socket.once("close", () => clearInterval(timer));
};

const wrongMetadata: readonly (readonly [string, () => ResponseHandler])[] = [
  ["10 MB", () => text("application/json", JSON.stringify({ ...fake().metadata, padding: "x".repeat(10_485_760) }))],
  ["megabytes without an end", () => flood],
  ["an endless text", () => endless],
  ["HTML", () => text("text/html", "<!DOCTYPE html><title>Records</title>")],
  ["truncated JSON", () => text("application/json", '{"issuer":')],
  ["not an object", () => json([fake().issuer])],
  ["null", () => json(null)],
  ["nothing", () => text("application/json", "")],
  ["204", () => (_request, response) => void response.writeHead(204).end()],
  ["500", () => json({ error: "server_error" }, 500)],
  ["404", () => json({ error: "not_found" }, 404)],
  ["another provider's", () => json({ ...fake().metadata, issuer: "https://evil.example" })],
  ["of no provider", () => json({ ...fake().metadata, issuer: undefined })],
  ["without an authorization endpoint", () => json({ ...fake().metadata, authorization_endpoint: undefined })],
  [
    "with an authorization endpoint that is not a URL",
    () => json({ ...fake().metadata, authorization_endpoint: "nowhere" }),
  ],
];

describe.each(share(wrongMetadata, 8))("provider metadata that is %s", (_name, responseOf) => {
  test("is 503, and is requested again [DSH-01]", async () => {
    const at = await cold();
    fake().responses.set(configuration, responseOf());
    const rejected = await sendRequest(`${at}/sign-in`, { accept: "application/json" });
    expect([rejected.status, rejected.headers.get("location"), rejected.headers.getSetCookie()]).toEqual([
      503,
      null,
      [],
    ]);
    expect(rejected.text).not.toContain("evil.example");
    fake().responses.clear();
    expect((await begin(at)).response.status).toBe(303);
  });
});

describe.each([
  [302, 0],
  [308, 1],
])("a redirect with %i", (status, turn) => {
  test.each(share([configuration, "/token", "/jwks"], 2, turn))("from %s is not followed [DSH-01]", async (path) => {
    const at = await cold();
    const redirect: ResponseHandler = (_request, response) =>
      void response.writeHead(status, { Location: `${fake().issuer}/elsewhere` }).end();
    fake().responses.set("/elsewhere", json(path === configuration ? fake().metadata : {}));
    fake().responses.set(path, redirect);
    fake().requestedPaths.length = 0;
    const response =
      path === "/jwks"
        ? await sendLogoutToken(at, await fake().sign(logoutClaims(fake())))
        : path === "/token"
          ? (await enter(at, fake())).response
          : await sendRequest(`${at}/sign-in`);
    expect(response.status).toBe(503);
    expect(fake().requestedPaths).toContain(path);
    expect(fake().requestedPaths).not.toContain("/elsewhere");
  });
});

describe("a logout token is 503 and ends nothing, so that the provider repeats it", () => {
  const wrongKeys: readonly (readonly [string, ResponseHandler])[] = [
    ["unavailable", away],
    ["HTML", text("text/html", "<!DOCTYPE html>")],
    ["JSON without keys", json({ nothing: [] })],
    ["a failure", json({ error: "server_error" }, 500)],
    ["10 MB", text("application/json", `{"keys":[],"padding":"${"x".repeat(10_485_760)}"}`)],
    ["an endless text", endless],
  ];
  test.each(share(wrongKeys, 3))("if its keys are %s [DSH-04]", async (_name, response) => {
    const { cookie } = await enter(base(), fake());
    const at = await cold();
    fake().responses.set("/jwks", response);
    const { status, body } = await sendLogoutToken(at, await fake().sign(logoutClaims(fake())));
    expect([status, body]).toEqual([
      503,
      { error: { code: "503", message: expect.any(String), reason: "UNAVAILABLE" } },
    ]);
    expect(await ownerStatus(at, cookie)).toBe(200);
    fake().responses.clear();
    expect((await sendLogoutToken(at, await fake().sign(logoutClaims(fake())))).status).toBe(200);
    expect(await ownerStatus(at, cookie)).toBe(401);
  });

  test("if its keys are unknown because the provider is unavailable [DSH-04]", async () => {
    const { cookie } = await enter(base(), fake());
    const at = await cold();
    fake().responses.set("*", away);
    expect((await sendLogoutToken(at, await fake().sign(logoutClaims(fake())))).status).toBe(503);
    expect((await sendLogoutToken(at, "garbage")).status).toBe(503);
    expect(await ownerStatus(at, cookie)).toBe(200);
  });
});
