// Suspending an account: no key, session or token of it is served after the acknowledgement, on any instance or wire,
// until it is resumed.
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Holder } from "../mcp/tools/set-up.ts";
import { holderOf, request } from "../mcp/tools/set-up.ts";
import { ann } from "../fixtures/sign-in/users.ts";
import { sendRequest, signIn, useSignInFixture } from "../fixtures/sign-in/fixture.ts";
import type { TestService } from "../fixtures/service/service.ts";
import { startService } from "../fixtures/service/service.ts";
import { newUser } from "../support/user.ts";
import { openWires } from "../fixtures/clients/wires.ts";
import { inForm } from "../support/form.ts";

const fixture = useSignInFixture();
let second: TestService;
let alone: TestService;
let holder: Holder;
let cookie: string;
let contact: string;

beforeAll(async () => {
  const { service, base } = fixture();
  // Both serve under the name of the first, as behind a proxy: a token and a cookie are good on each.
  second = await service.another({ BASE_URL: base });
  alone = await service.another({ BASE_URL: base, REDIS_URL: "" });
  holder = await holderOf(fixture());
  ({ cookie } = await signIn(fixture(), ann));
  contact = await holder.put.contact({ full_name: "Ann Lee" });
});
afterAll(async () => {
  await alone.stop();
  await second.stop();
});

const admin = (rpc: string, message: object) =>
  fixture().service.internalCall(`records.admin.v1.AccountService/${rpc}`, message);
const suspend = (reason = "a leaked key") => admin("SuspendAccount", { account_id: holder.accountId, reason });
const resume = () => admin("ResumeAccount", { account_id: holder.accountId, reason: "all is well" });

type Outcome = "served" | "suspended" | string;
type Way = (service: TestService) => Promise<Outcome>;
const outcomeOf = (status: number, message: unknown): Outcome =>
  status < 300
    ? "served"
    : status === 403 && String(message).startsWith("The account is suspended")
      ? "suspended"
      : `${status} ${String(message)}`;
const overRest =
  (path: string, body?: object): Way =>
  async (service) => {
    const { status, body: response } = await service.rest(path, { key: holder.key, ...(body && { body }) });
    return outcomeOf(status, response?.error?.message);
  };
const overWire =
  (name: string, rpc: "GetContact" | "CreateContact"): Way =>
  async (service) => {
    const { wires, close } = openWires(service);
    try {
      const { code, message } = await wires
        .find((wire) => wire.name === name)!
        .call({ rpc, key: holder.key, request: rpc === "GetContact" ? { contact_id: contact } : { full_name: "Bo" } });
      return code === "ok" ? "served" : outcomeOf(code === "permission_denied" ? 403 : 500, message);
    } finally {
      close();
    }
  };
const inBrowser =
  (path: string): Way =>
  async (service) => {
    const { status, body, text } = await sendRequest(`http://localhost:${service.app.port}${path}`, { cookie });
    return outcomeOf(status, body?.error?.message ?? text);
  };
const ways: Readonly<Record<string, Way>> = {
  "a read over REST": overRest("/v1/sessions?limit=1"),
  "a look-up over REST": (service) => overRest(`/v1/contacts/${contact}`)(service),
  "a write over REST": overRest("/v1/contacts", { full_name: "Bo" }),
  "a read over Connect": overWire("connect", "GetContact"),
  "a read over gRPC": overWire("grpc", "GetContact"),
  "a write over gRPC": overWire("grpc", "CreateContact"),
  "a read over gRPC-Web": overWire("grpc-web", "GetContact"),
  "a tool over MCP": async (service) => {
    const { status, body } = await request(
      { url: `${service.base}/mcp`, token: holder.token },
      "2026-07-28",
      "tools/call",
      { name: "search_contacts", arguments: { query: "ann" } },
    );
    return outcomeOf(status, body?.error?.message);
  },
  "the dashboard's key": inBrowser("/v1/api-key"),
  "the dashboard's page": inBrowser("/"),
};

async function outcomes(services: readonly TestService[]): Promise<Record<string, Outcome[]>> {
  const found = await Promise.all(
    Object.entries(ways).map(
      async ([name, way]) => [name, await Promise.all(services.map((service) => way(service)))] as const,
    ),
  );
  return Object.fromEntries(found);
}
const all = (services: readonly TestService[], outcome: Outcome) =>
  Object.fromEntries(Object.keys(ways).map((name) => [name, services.map(() => outcome)]));

test("rejects every credential with 403 and its own message on every wire and instance, also without Redis; resuming restores all of them [OPS-33]", async () => {
  const services = [fixture().service, second, alone];
  expect(await outcomes(services)).toEqual(all(services, "served"));
  expect((await suspend()).body.account.suspension).toMatchObject({
    reason: "a leaked key",
    token: expect.stringMatching(/^[0-9a-f]{8}$/),
  });
  expect(await outcomes(services)).toEqual(all(services, "suspended"));
  expect((await resume()).body.account.suspension).toBeUndefined();
  expect(await outcomes(services)).toEqual(all(services, "served"));
});

test("the reason is ACCOUNT_SUSPENDED on the wires that carry one; a wrong or a read-only key is rejected as before [OPS-33]", async () => {
  await suspend();
  try {
    const { wires, close } = openWires(second);
    for (const wire of wires.filter(({ name }) => name !== "rest")) {
      expect(await wire.call({ rpc: "GetContact", key: holder.key, request: { contact_id: contact } })).toMatchObject({
        code: "permission_denied",
        reason: "ACCOUNT_SUSPENDED",
      });
    }
    close();
    expect((await second.rest("/v1/sessions", { key: `${holder.key.slice(0, -1)}_` })).status).toBe(401);
    // An invalid request or an unknown record makes no difference.
    expect((await second.rest("/v1/sessions?limit=x", { key: holder.key })).status).toBe(403);
  } finally {
    await resume();
  }
});

test("suspending or resuming again changes nothing; an unknown account is 404; a missing reason is rejected [OPS-33, OPS-36]", async () => {
  const { body: first } = await suspend("the first reason");
  expect((await suspend("another reason")).body).toEqual(first);
  await resume();
  expect((await resume()).status).toBe(200);
  expect((await admin("SuspendAccount", { account_id: contact, reason: "none" })).status).toBe(404);
  expect((await admin("SuspendAccount", { account_id: holder.accountId })).status).toBe(400);
  const { body } = await sendRequest(`${fixture().base}/v1/audit-log?limit=2`, { cookie });
  const [resumed, suspended] = body.data;
  expect(suspended).toMatchObject({
    event: "account_suspended",
    detail: "By the operator: the first reason",
    person: expect.stringMatching(/^operator \(token [0-9a-f]{8}\)$/),
  });
  expect(resumed).toMatchObject({ event: "account_resumed", detail: "By the operator: all is well" });
});

test("keeps the records, and internal calls on behalf of a suspended account read, write and export [OPS-33]", async () => {
  await suspend();
  try {
    const accountHeader = { "records-account-id": holder.accountId };
    const call = (rpc: string, message: object) =>
      fixture().service.internalCall(`records.v1.ContactService/${rpc}`, message, accountHeader);
    expect((await call("GetContact", { contact_id: contact })).status).toBe(200);
    expect((await call("CreateContact", { full_name: "Grace Okafor" })).status).toBe(200);
    expect(await holder.put.contact({ full_name: "Imported" })).toMatch(/^[0-9a-f-]{36}$/);
  } finally {
    await resume();
  }
});

test("a key that is created during the suspension of its account is not served [OPS-33]", async () => {
  const { service } = fixture();
  const plain = await startService();
  try {
    for (let round = 0; round < 5; round++) {
      const user = await newUser(plain);
      const [created] = await Promise.all([
        user.call("/v1/api-key", { method: "POST" }),
        plain.internalCall("records.admin.v1.AccountService/SuspendAccount", {
          account_id: user.accountId,
          reason: "race",
        }),
      ]);
      expect([201, 403]).toContain(created.status);
      if (created.status === 201)
        expect((await plain.rest("/v1/sessions", { key: created.body.data.key })).status).toBe(403);
    }
  } finally {
    await plain.stop();
  }
  expect(service.app.port).toBeGreaterThan(0);
});

/** Suspends and resumes under load; the number of served requests that began after the acknowledgement. */
async function suspendUnderLoad(rounds: number): Promise<{ served: number; late: number; other: string[] }> {
  const services = [fixture().service, second];
  // The number of the round while its suspension is acknowledged.
  let [acknowledged, running, served, late] = [0, true, 0, 0];
  // A test that times out must not continue during the next one.
  onTestFinished(() => void (running = false));
  const other: string[] = [];
  const workers = Object.values(ways).flatMap((way) =>
    services.map(async (service) => {
      while (running) {
        const begunIn = acknowledged;
        const outcome = await way(service);
        if (outcome === "served" && begunIn !== 0 && begunIn === acknowledged) late++;
        else if (outcome === "served") served++;
        else if (outcome !== "suspended") other.push(outcome);
      }
    }),
  );
  for (let round = 1; round <= rounds; round++) {
    const before = served;
    while (running && served < before + 20) await sleep(5);
    await suspend();
    acknowledged = round;
    await sleep(200);
    acknowledged = 0;
    await resume();
  }
  running = false;
  await Promise.all(workers);
  return { served, late, other };
}

test("under load on two instances no request that begins after the acknowledgement is served: REST, Connect, gRPC, gRPC-Web, MCP, the dashboard [OPS-33, OPS-17]", {
  timeout: 120_000,
}, async () => {
  const { served, late, other } = await suspendUnderLoad(inForm(2, 5));
  expect(served).toBeGreaterThan(0);
  expect([late, other]).toEqual([0, []]);
});

test("no request that begins after the acknowledgement is served while Redis is flushed repeatedly [OPS-33]", {
  timeout: 120_000,
}, async () => {
  const redis = new Redis(fixture().service.redis.uri);
  const flushing = setInterval(() => void redis.flushall().catch(() => undefined), 2);
  try {
    const { late, other } = await suspendUnderLoad(inForm(1, 3));
    expect([late, other]).toEqual([0, []]);
  } finally {
    clearInterval(flushing);
    redis.disconnect();
  }
});
