// While MongoDB fails or is gone, the dashboard returns 503, and shows nobody as signed out.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { OwnMongod } from "../fixtures/databases/own-mongod.ts";
import { startOwnMongod, withFault } from "../fixtures/databases/own-mongod.ts";
import type { RestResponse, TestService } from "../fixtures/service/service.ts";
import { startInstance, startService } from "../fixtures/service/service.ts";
import type { FakeProvider } from "../fixtures/sign-in/fake-provider.ts";
import { enter, logoutClaims, startFakeProvider, sendLogoutToken } from "../fixtures/sign-in/fake-provider.ts";
import { begin, newOwner, sendRequest } from "../fixtures/sign-in/fixture.ts";
import { share } from "../support/form.ts";

vi.setConfig({ testTimeout: 60_000 });

let lender: TestService;
let mongod: OwnMongod;
let fake: FakeProvider;
let service: TestService;
let base: string;

beforeAll(async () => {
  [lender, mongod, fake] = await Promise.all([startService(), startOwnMongod(), startFakeProvider()]);
  fake.metadata["revocation_endpoint"] = `${fake.issuer}/revoke`;
  fake.metadata["end_session_endpoint"] = `${fake.issuer}/end`;
  service = await startInstance(mongod, lender.redis, fake.settings());
  base = service.app.baseUrl;
  await newOwner(service, fake.issuer, "person-dora", "dora@example.com");
});
afterAll(async () => {
  // A stop without MongoDB may take the whole grace period.
  await mongod.revive();
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

test("commands that fail because the server shuts down are 503, and the session continues afterwards [DSH-01]", async () => {
  const { cookie } = await enter(base, fake);
  const failCommands = ["find", "aggregate", "findAndModify", "insert", "update", "delete"];
  await withFault(mongod, "alwaysOn", { failCommands, errorCode: 11600, appName: "records" }, () =>
    expectUnavailable(cookie),
  );
  const { status, text } = await sendRequest(`${base}/`, { cookie });
  expect([status, text.includes("dora@example.com")]).toEqual([200, true]);
});

/** Does the work while every command of this name on a collection fails. */
function withFailing<T>(command: string, collection: string, work: () => Promise<T>): Promise<T> {
  const namespace = `${service.app.client.db().databaseName}.${collection}`;
  const fault = { failCommands: [command], namespace, errorCode: 11600, appName: "records" };
  return withFault(mongod, "alwaysOn", fault, work);
}

test("the page is served without the number of requests while that cannot be read, and shows it afterwards [DSH-12]", async () => {
  const { cookie } = await enter(base, fake);
  const open = async () => {
    const { status, text } = await sendRequest(`${base}/`, { cookie });
    return [status, text.includes("The number of requests can’t be shown now."), text.includes("No requests in the")];
  };
  expect(await withFailing("find", "request_counts", open)).toEqual([200, true, false]);
  expect(await open()).toEqual([200, false, true]);
});

async function entriesOf(requestId: string): Promise<unknown[]> {
  return service.app.client.db().collection("audit_log").find({ request_id: requestId }).toArray();
}

const failing = [
  ["insert", "audit_log"],
  ["delete", "dashboard_sessions"],
] as const;
test.each(share(failing, 1))(
  "a sign-out and a logout token whose %s in %s fails are repeated: each is recorded once, and the sign-out revokes the token and redirects to the provider [DSH-04, DSH-07]",
  async (command, collection) => {
    // A user of its own: the sign-out ends every earlier sign-in.
    const [sub, email] = [`person-${collection}`, `${collection}@example.com`];
    await newOwner(service, fake.issuer, sub, email);
    const { cookie } = await enter(base, fake, { sub, email });
    const press = (requestId: string) =>
      sendRequest(`${base}/sign-out`, { method: "POST", cookie, origin: base, headers: { "X-Request-Id": requestId } });
    const sid = randomUUID();
    const { cookie: other } = await enter(base, fake, { sid });
    const token = await fake.sign(logoutClaims(fake, { sid, sub: undefined }));
    const send = (requestId: string) => sendLogoutToken(base, token, { "X-Request-Id": requestId });
    const statusOf = async (one: string) => (await sendRequest(`${base}/v1/audit-log`, { cookie: one })).status;
    const [failed, repeated, tokenFailed, tokenRepeated] = ["fails", "again", "token-fails", "token-again"].map(
      (what) => `${collection}-${what}`,
    ) as [string, string, string, string];

    const responses = await withFailing(command, collection, () => Promise.all([press(failed), send(tokenFailed)]));
    expect(responses.map(({ status }) => status)).toEqual([503, 503]);

    expect(await statusOf(cookie)).toBe(401);
    fake.requestedPaths.length = 0;
    const { status, headers } = await press(repeated);
    expect([status, headers.get("location")]).toEqual([303, expect.stringContaining(`${fake.issuer}/end?`)]);
    expect(fake.requestedPaths).toContain("/revoke");
    expect(await entriesOf(failed)).toEqual([]);
    expect(await entriesOf(repeated)).toMatchObject([{ event: "signed_out", person: email }]);
    const onceMore = `${collection}-once-more`;
    expect((await press(onceMore)).headers.get("location")).toBe(`${base}/?session-ended`);
    expect(await entriesOf(onceMore)).toEqual([]);

    expect(await statusOf(other)).toBe(200);
    expect((await send(tokenRepeated)).status).toBe(200);
    expect(await statusOf(other)).toBe(401);
    expect(await entriesOf(tokenFailed)).toEqual([]);
    expect(await entriesOf(tokenRepeated)).toMatchObject([
      { event: "signed_out", detail: "At the identity provider." },
    ]);
  },
);

test("an unavailable MongoDB is 503; a user who is not signed in still sees the page and is sent to the provider [DSH-01]", async () => {
  const { cookie } = await enter(base, fake);
  await mongod.members[0]?.stop();
  await expectUnavailable(cookie);
  expect((await sendRequest(`${base}/`)).status).toBe(200);
  expect((await begin(base)).response.status).toBe(303);
});
