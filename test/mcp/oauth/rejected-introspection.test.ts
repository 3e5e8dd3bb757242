// A provider that responds and does not let the service introspect: a signed token stays valid, as while it is away,
// one that only the provider can read does not, and the operator learns of it.
import { randomBytes, randomUUID } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { FakeProvider, ResponseHandler } from "../../fixtures/sign-in/fake-provider.ts";
import { json, seconds, startFakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import { newOwner } from "../../fixtures/sign-in/fixture.ts";
import { advanceClock } from "../../support/advance-clock.ts";
import type { TestService } from "../../fixtures/service/service.ts";
import { startService } from "../../fixtures/service/service.ts";
import { accessToken, expectChallenge, offerIntrospection, send, statusOf } from "../../fixtures/sign-in/assistants.ts";

let fake: FakeProvider;
let service: TestService;
let base: string;
const said = new Map<string, Record<string, unknown>>();
beforeEach(async () => {
  fake = await startFakeProvider();
  introspecting();
  service = await startService(fake.settings());
  base = service.app.baseUrl;
  await newOwner(service, fake.issuer, "person-dora", "dora@example.com");
});
afterEach(async () => {
  await service.stop();
  await fake.stop();
});

const introspecting = (): void => offerIntrospection(fake, (token) => said.get(token) ?? { active: true });
const signed = (): Promise<string> => accessToken(fake, { jti: randomUUID(), sid: "own", auth_time: seconds() - 100 });
function opaque(): string {
  const token = randomBytes(20).toString("base64url");
  said.set(token, { active: true, sub: "person-dora", token_type: "Bearer", exp: seconds() + 600 });
  return token;
}
/** What was introspected before is old now. */
const grownOld = (): Promise<void> => advanceClock(4, service.app.client);
const challenged: ResponseHandler = (_request, response) =>
  void response.writeHead(401, { "WWW-Authenticate": 'Basic realm="the provider"' }).end();
const page =
  (status: number): ResponseHandler =>
  (_request, response) =>
    void response.writeHead(status, { "Content-Type": "text/html", Location: "/sign-in" }).end("<h1>No</h1>");

const undecided = {
  jsonrpc: "2.0",
  id: null,
  error: {
    code: "503",
    message:
      "The identity provider rejects the service's requests to check access tokens. Report this to the operator.",
    reason: "UNAVAILABLE",
  },
};
async function up(): Promise<string[]> {
  const text = await (await fetch(`${service.internal}/metrics`)).text();
  return /^records_identity_provider_up (.*)$/m.exec(text)?.slice(1) ?? [];
}
async function failures(): Promise<number> {
  const text = await (await fetch(`${service.internal}/metrics`)).text();
  return Number(/^records_identity_provider_failures_total (.*)$/m.exec(text)?.[1]);
}
const linesOf = (words: RegExp): string[] => service.logLines.flatMap((line) => words.exec(line)?.slice(0, 1) ?? []);

test("if the provider rejects introspection, a signed token stays valid, another one is 503, and a revoked one stays 401 [OAU-13, OAU-14]", async () => {
  const [known, knownOpaque, revoked] = [await signed(), opaque(), await signed()];
  said.set(revoked, { active: false });
  expect([await statusOf(base, known), await statusOf(base, knownOpaque), await statusOf(base, revoked)]).toEqual([
    200, 200, 401,
  ]);
  fake.responses.set("/introspect", json({ error: "invalid_client" }, 401));
  await grownOld();
  for (const token of [known, await signed()]) expect(await statusOf(base, token)).toBe(200);
  for (const token of [knownOpaque, opaque()]) {
    const { status, headers, body } = await send(base, `Bearer ${token}`);
    expect([status, headers.get("www-authenticate"), body]).toEqual([503, null, undecided]);
  }
  expectChallenge(await send(base, `Bearer ${revoked}`), base, /revoked, or has expired/);
  introspecting();
  await grownOld();
  expect([await statusOf(base, known), await statusOf(base, knownOpaque)]).toEqual([200, 200]);
});

test("a rejection of introspection is logged once, and again when it changes, and is in the metrics [OAU-13]", async () => {
  expect(await statusOf(base, await signed())).toBe(200);
  expect(await up()).toEqual(["1"]);
  const before = await failures();
  const rejections: readonly [ResponseHandler, string][] = [
    [json({ error: "invalid_client" }, 401), "status 401, invalid_client"],
    [challenged, "status 401"],
    [json({ error: "unauthorized_client" }, 400), "status 400, unauthorized_client"],
    [json({ error: `a line\n"quoted" ${"x".repeat(99)}` }, 403), `status 403, alinequoted${"x".repeat(49)}`],
    [page(403), "status 403"],
    [page(404), "status 404"],
    [page(302), "status 302"],
  ];
  for (const [handler] of rejections) {
    fake.responses.set("/introspect", handler);
    for (let turn = 0; turn < 2; turn++) expect((await send(base, `Bearer ${opaque()}`)).body).toEqual(undecided);
    expect(await up()).toEqual(["0"]);
  }
  expect(await failures()).toBe(before + 2 * rejections.length);
  introspecting();
  expect(await statusOf(base, await signed())).toBe(200);
  expect(await up()).toEqual(["1"]);
  fake.responses.set("/introspect", challenged);
  expect(await statusOf(base, await signed())).toBe(200);
  expect(linesOf(/(?<=provider rejects the introspection of access tokens \()[^)]*/)).toEqual([
    ...rejections.map(([, words]) => words),
    "status 401",
  ]);
  expect(linesOf(/the identity provider no longer rejects the introspection of access tokens/)).toHaveLength(1);
});

test("a rejection of one token is 503 for that token, and is neither logged nor counted as one of the service", async () => {
  const before = await failures();
  fake.responses.set("/introspect", json({ error: "invalid_request" }, 400));
  for (const token of [opaque(), "of-nobody"]) expect((await send(base, `Bearer ${token}`)).body).toEqual(undecided);
  expect([await up(), await failures()]).toEqual([["1"], before]);
  expect(linesOf(/provider rejects the introspection/)).toEqual([]);
});

test.each([408, 425, 429, 500, 503])(
  "the status %d is not a rejection: a token that can be checked without the provider is accepted [OAU-14]",
  async (status) => {
    fake.responses.set("/introspect", json({ error: "slow_down" }, status));
    expect(await statusOf(base, await signed())).toBe(200);
    expect(linesOf(/provider rejects the introspection/)).toEqual([]);
  },
);
