// While MongoDB fails or is gone, the dashboard returns 503, and shows nobody as signed out.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { OwnMongod } from "../../fixtures/databases/own-mongod.ts";
import { startOwnMongod, withFault } from "../../fixtures/databases/own-mongod.ts";
import type { RestResponse, TestService } from "../../fixtures/service/service.ts";
import { startInstance, startService } from "../../fixtures/service/service.ts";
import type { FakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import { enter, logoutClaims, startFakeProvider, sendLogoutToken } from "../../fixtures/sign-in/fake-provider.ts";
import { begin, newOwner, sendRequest } from "../../fixtures/sign-in/fixture.ts";

vi.setConfig({ testTimeout: 60_000 });

/** Lends its Redis. */
let lender: TestService;
let mongod: OwnMongod;
let fake: FakeProvider;
let service: TestService;
let base: string;

beforeAll(async () => {
  [lender, mongod, fake] = await Promise.all([startService(), startOwnMongod(), startFakeProvider()]);
  service = await startInstance(mongod, lender.redis, fake.settings());
  base = service.app.baseUrl;
  await newOwner(service, fake.issuer, "person-dora", "dora@example.com");
});
afterAll(async () => {
  await service.stop();
  await Promise.all([mongod.stop(), lender.stop(), fake.stop()]);
});

/** Everything that needs a session read, made or ended, at once. */
async function expectUnavailable(cookie: string): Promise<void> {
  const [token, entering] = [await fake.sign(logoutClaims(fake)), enter(base, fake)];
  const responses: [string, RestResponse][] = await Promise.all([
    sendRequest(`${base}/`, { cookie, accept: "application/json" }).then((one): [string, RestResponse] => [
      "the page",
      one,
    ]),
    sendRequest(`${base}/`, { cookie, accept: "text/html" }).then((one): [string, RestResponse] => [
      "the page for a browser",
      one,
    ]),
    sendRequest(`${base}/v1/audit-log`, { cookie }).then((one): [string, RestResponse] => ["the owner's reading", one]),
    sendRequest(`${base}/sign-out`, { method: "POST", cookie, origin: base }).then((one): [string, RestResponse] => [
      "signing out",
      one,
    ]),
    sendLogoutToken(base, token).then((one): [string, RestResponse] => ["a logout token", one]),
    entering.then(({ response }): [string, RestResponse] => ["the way back", response]),
  ]);
  expect(responses.map(([name, { status }]) => [name, status])).toEqual(responses.map(([name]) => [name, 503]));
  for (const [name, { headers }] of responses) expect(headers.getSetCookie(), name).toEqual([]);
}

test("an owner whose session cannot be read gets 503 and not 401", async () => {
  const { cookie } = await enter(base, fake);
  const read = (): Promise<RestResponse> => sendRequest(`${base}/v1/audit-log`, { cookie });
  await withFault(
    mongod,
    "alwaysOn",
    { failCommands: ["find", "aggregate"], errorCode: 11600, appName: "records" },
    async () => {
      expect((await read()).status).toBe(503);
    },
  );
  expect((await read()).status).toBe(200);
});

test("commands that fail because the server is going are 503, and the session continues after [DSH-01]", async () => {
  const { cookie } = await enter(base, fake);
  const failCommands = ["find", "aggregate", "findAndModify", "insert", "update", "delete"];
  await withFault(mongod, "alwaysOn", { failCommands, errorCode: 11600, appName: "records" }, () =>
    expectUnavailable(cookie),
  );
  const { status, text } = await sendRequest(`${base}/`, { cookie });
  expect([status, text.includes("dora@example.com")]).toEqual([200, true]);
});

test("a MongoDB that is gone is 503; who is not signed in still sees the page and gets to the provider [DSH-01]", async () => {
  const { cookie } = await enter(base, fake);
  await mongod.members[0]?.stop();
  await expectUnavailable(cookie);
  expect((await sendRequest(`${base}/`)).status).toBe(200);
  expect((await begin(base)).response.status).toBe(303);
});
