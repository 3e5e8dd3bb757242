// MongoDB that fails, hangs or is stopped: every request gets 503 in time, never 401, and health reports it.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newSecret } from "../../src/api-keys/secret.ts";
import { until } from "../../src/embedded/wait.ts";
import { ingestInto } from "../fixtures/clients/ingest.ts";
import type { OwnMongod } from "../fixtures/databases/own-mongod.ts";
import { startOwnMongod, withFault } from "../fixtures/databases/own-mongod.ts";
import type { TestAccount, TestService } from "../fixtures/service/service.ts";
import { startInstance, startService } from "../fixtures/service/service.ts";
import type { Fields, Outcome, Rpc, Wire } from "../fixtures/clients/wires.ts";
import { requestsOn } from "../fixtures/clients/operations.ts";
import { openWires } from "../fixtures/clients/wires.ts";

/** Lends its Redis. */
let lender: TestService;
let mongod: OwnMongod;
let service: TestService;
let owner: TestAccount;
let contact: string;

beforeAll(async () => {
  [lender, mongod] = await Promise.all([startService(), startOwnMongod()]);
  service = await startInstance(mongod, lender.redis, {});
  owner = await service.account();
  contact = await ingestInto(service, owner.id).contact({ full_name: "Ann Lee" });
});
afterAll(async () => {
  // A stop without MongoDB may take the whole grace period.
  await mongod.revive();
  await service.stop();
  await Promise.all([mongod.stop(), lender.stop()]);
});

const callsOn = (wire: Wire): (readonly [Rpc, Fields])[] => requestsOn(wire, { contact, session: randomUUID() });

/**
 * Calls everything on every wire at once, with the key; each must be unavailable, at the deadline, with room for a busy
 * machine.
 */
async function expectUnavailable(key: string): Promise<void> {
  const { wires, close } = openWires(service);
  const began = performance.now();
  const outcomes: [string, Outcome, number][] = await Promise.all(
    wires.flatMap((wire) =>
      callsOn(wire).map(async ([rpc, request]): Promise<[string, Outcome, number]> => {
        const outcome = await wire.call({
          rpc,
          key,
          request,
          ...(rpc === "CreateContact" ? { idempotencyKey: randomUUID() } : {}),
        });
        return [`${wire.name} ${rpc}`, outcome, performance.now() - began];
      }),
    ),
  );
  close();
  for (const [name, { http, code, reason }, ms] of outcomes) {
    if (name.startsWith("rest")) expect([name, http]).toEqual([name, 503]);
    else expect([name, code, reason]).toEqual([name, "unavailable", "UNAVAILABLE"]);
    expect(ms, name).toBeLessThan(8_000);
  }
}

async function expectHealth(status: string): Promise<void> {
  for (const key of [undefined, owner.key, newSecret()]) {
    const response = await service.rest("/v1/health", { key });
    expect([response.status, response.body]).toEqual([200, { data: { status, version: "1.0.0" } }]);
  }
}

async function expectRecovered(): Promise<void> {
  await until(
    async () => (await service.rest("/v1/sessions", { key: owner.key })).status === 200,
    AbortSignal.timeout(20_000),
  );
  await until(async () => (await service.rest("/v1/health")).body.data.status === "ok", AbortSignal.timeout(5_000));
  expect((await service.rest("/v1/contacts", { key: owner.key, body: { full_name: "After" } })).status).toBe(201);
}

test("a key store that cannot be read is 503, never 401, for a known key and for a new one [AUT-04, RTE-04]", async () => {
  const fresh = await service.account();
  await service.rest("/v1/sessions", { key: owner.key });
  const fault = { failCommands: ["find", "aggregate"], errorCode: 50 };
  await withFault(mongod, "alwaysOn", fault, async () => {
    for (const key of [owner.key, fresh.key, newSecret()]) {
      for (const call of [
        { path: "/v1/sessions" },
        { path: "/v1/contacts?query=a" },
        { path: "/v1/contacts", body: { full_name: "Ann" } },
      ]) {
        const { status, headers, body } = await service.rest(call.path, {
          key,
          ...("body" in call ? { body: call.body } : {}),
        });
        expect([status, body.error.code, headers.has("Retry-After"), headers.has("WWW-Authenticate")]).toEqual([
          503,
          "503",
          false,
          false,
        ]);
        expect(headers.get("RateLimit-Limit")).toBe("100000");
      }
    }
    await expectUnavailable(fresh.key);
    for (const key of [undefined, "rec_wrong"]) expect((await service.rest("/v1/sessions", { key })).status).toBe(401);
  });
  await expectRecovered();
});

test.each([
  ["has no room on its disk", 14031],
  ["has its writes blocked (setUserWriteBlockMode)", 371],
  ["runs out of cache", 365],
])("a write that MongoDB rejects because it %s is 503, and reads continue", async (_why, errorCode) => {
  const fault = { failCommands: ["insert", "update", "findAndModify"], errorCode, appName: "records" };
  const write = { key: owner.key, body: { full_name: "Not now" } };
  await withFault(mongod, "alwaysOn", fault, async () => {
    const responses = await Promise.all([
      service.rest("/v1/contacts", { ...write, headers: { "Idempotency-Key": randomUUID() } }),
      service.rest(`/v1/contacts/${contact}`, { ...write, method: "PATCH" }),
      service.rest(`/v1/contacts/${contact}`, { key: owner.key }),
    ]);
    expect(responses.map(({ status }) => status)).toEqual([503, 503, 200]);
  });
  // Without an idempotency key a create is an aggregation that begins at the API key; where that fails, an update.
  const ofCreates = { ...fault, failCommands: ["aggregate", "update"] };
  await withFault(mongod, "alwaysOn", ofCreates, async () => {
    expect((await service.rest("/v1/contacts", write)).status).toBe(503);
  });
});

test("with MongoDB frozen every read and write is 503 in time on every wire, health is 200 and degraded, and all of it recovers by itself [OPS-15, AUT-04, HLT-03]", async () => {
  const pid = mongod.members[0]?.pid as number;
  process.kill(pid, "SIGSTOP");
  try {
    await Promise.all([expectUnavailable(owner.key), expectUnavailable(newSecret())]);
    await expectHealth("degraded");
    for (const key of [undefined, "rec_wrong"]) expect((await service.rest("/v1/sessions", { key })).status).toBe(401);
    const ready = await fetch(`${service.internal}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([
      503,
      {
        status: "unavailable",
        mongodb: false,
        redis: true,
        reason: expect.stringMatching(/^MongoDB does not respond$|^127\.0\.0\.1:\d+ has not replied for 3000 ms$/),
      },
    ]);
    expect((await fetch(`${service.internal}/livez`)).status).toBe(200);
    const internal = await service.internalCall(
      "records.v1.ContactService/GetContact",
      { contact_id: contact },
      { "records-account-id": owner.id },
    );
    expect([internal.status, internal.body.code]).toEqual([503, "unavailable"]);
  } finally {
    process.kill(pid, "SIGCONT");
  }
  await expectRecovered();
});

test("with MongoDB stopped every read and write is 503 in time, never 401, and health is 200 and degraded [OPS-15, AUT-04, HLT-03]", async () => {
  await mongod.members[0]?.stop();
  await expectUnavailable(owner.key);
  await expectHealth("degraded");
});
