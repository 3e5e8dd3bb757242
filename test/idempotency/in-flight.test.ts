// A key whose first request still runs: duplicates wait in Redis, get its response, and give up at the deadline.
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { FaultInjector } from "../faults/fault-injector.ts";
import { startFaultInjector } from "../faults/fault-injector.ts";
import { listenToMongo } from "../fixtures/databases/commands.ts";
import { startOwnMongod, withFault } from "../fixtures/databases/own-mongod.ts";
import type { TestAccount, TestService } from "../fixtures/service/service.ts";
import { recordsOf } from "../fixtures/records/stored.ts";
import type { Wire, WireResponse } from "../fixtures/clients/idempotent-writes.ts";
import { wires } from "../fixtures/clients/idempotent-writes.ts";

let injector: FaultInjector;
let one: TestService;
let two: TestService;

beforeAll(async () => {
  injector = await startFaultInjector(startOwnMongod);
  [one, two] = [await injector.instance(), await injector.instance()];
  const warm = await one.account();
  for (const { base } of [one, two]) await wires.REST.create({ base, key: warm.key }, "warm", { full_name: "Warm" });
});
afterAll(async () => {
  await injector.stop();
});

/** Holds a command of the first request for this long, and runs the work as soon as it is held. */
async function whileHeld<T>(
  command: string,
  blockTimeMS: number,
  start: () => Promise<WireResponse>,
  work: () => Promise<T>,
): Promise<[WireResponse, T]> {
  const fault = { failCommands: [command], blockConnection: true, blockTimeMS, appName: "records" };
  // The times of use of the keys before are written outside the requests: one of those writes would be held in its
  // place.
  await Promise.all([one, two].map(({ app }) => app.services.lastUse.flush()));
  return withFault(injector.mongod, { times: 1 }, fault, async () => {
    const listening = listenToMongo(one.app.client);
    const first = start();
    await expect.poll(() => listening.commands.some(({ name }) => name === command), { interval: 5 }).toBe(true);
    listening.stop();
    return Promise.all([first, work()]);
  });
}

function send(wire: Wire, instance: TestService, account: TestAccount): Promise<WireResponse> {
  return wire.create({ base: instance.base, key: account.key }, "k", { full_name: "Held" });
}

test.each(["update", "insert", "commitTransaction"])(
  "while the first request is blocked at its %s, duplicates on another instance only read their API key from MongoDB, and get its response [IDM-11, IDM-19]",
  async (command) => {
    const account = await one.account();
    // From now on the instance knows the key.
    await two.rest("/v1/sessions", { key: account.key });
    await two.app.services.lastUse.flush();
    const listening = listenToMongo(two.app.client);
    const duplicates = (): Promise<WireResponse[]> =>
      Promise.all(Array.from({ length: 20 }, () => send(wires.REST, two, account)));
    const [first, repeats] = await whileHeld(command, 600, () => send(wires.REST, one, account), duplicates);
    expect(listening.stop().map(({ label }) => label)).toEqual(Array.from({ length: 20 }, () => "find api_keys"));
    expect([first.outcome, first.replayed]).toEqual(["ok", false]);
    for (const repeat of repeats) expect(repeat).toEqual({ ...first, replayed: true });
    expect(await recordsOf(one.app.client, account)).toEqual({ contacts: 1, notes: 0, claims: 1 });
  },
);

test("a duplicate with another body waits for the first request as well, and is then rejected [IDM-10, IDM-11]", async () => {
  const account = await one.account();
  const other = (): Promise<WireResponse> =>
    wires.REST.create({ base: two.base, key: account.key }, "k", { full_name: "Other" });
  const [first, rejected] = await whileHeld("insert", 800, () => send(wires.REST, one, account), other);
  expect([first.outcome, rejected.outcome]).toEqual(["ok", "409"]);
  expect(await recordsOf(one.app.client, account)).toEqual({ contacts: 1, notes: 0, claims: 1 });
});

test("without Redis a duplicate waits in the database and gets the first response [IDM-11, IDM-17]", async () => {
  const [first, second] = [await injector.instance({ REDIS_URL: "" }), await injector.instance({ REDIS_URL: "" })];
  const account = await one.account();
  const fault = { failCommands: ["commitTransaction"], blockConnection: true, blockTimeMS: 800, appName: "records" };
  const responses = await withFault(injector.mongod, { times: 1 }, fault, () =>
    Promise.all([
      send(wires.REST, first, account),
      send(wires.gRPC, second, account),
      send(wires.REST, second, account),
    ]),
  );
  expect(new Set(responses.map(({ outcome, id }) => `${outcome} ${id}`)).size).toBe(1);
  expect(responses.filter(({ replayed }) => !replayed)).toHaveLength(1);
  expect(await recordsOf(one.app.client, account)).toEqual({ contacts: 1, notes: 0, claims: 1 });
});

test("a first request that is blocked beyond the deadline is 503 and abandoned; its duplicates are 503 on every wire, or one of them writes; then the key replays [IDM-11, CON-05]", async () => {
  const account = await one.account();
  const [first, repeats] = await whileHeld(
    "update",
    7_500,
    () => send(wires.REST, one, account),
    () =>
      Promise.all([
        send(wires.REST, two, account),
        send(wires.REST, one, account),
        send(wires.gRPC, two, account),
        send(wires.Connect, two, account),
      ]),
  );
  expect(first.outcome).toBe("503");
  const unavailable = ["503", "503", "Unavailable", "Unavailable"];
  for (const [at, { outcome }] of repeats.entries()) expect(["ok", unavailable[at]]).toContain(outcome);
  expect(repeats.filter(({ outcome, replayed }) => outcome === "ok" && !replayed).length).toBeLessThanOrEqual(1);
  await expect
    .poll(() => send(wires.REST, two, account).then(({ outcome, replayed }) => [outcome, replayed]), {
      timeout: 15_000,
    })
    .toEqual(["ok", true]);
  expect(await recordsOf(one.app.client, account)).toEqual({ contacts: 1, notes: 0, claims: 1 });
});

test("a transaction that seemed abandoned, because its next command took seconds to arrive, is restarted: 201, and one record [IDM-15]", async () => {
  const account = await one.account();
  const [first, repeats] = await whileHeld(
    "insert",
    4_000,
    () => send(wires.REST, one, account),
    () => Promise.all([send(wires.REST, two, account)]),
  );
  expect([first.outcome, first.replayed, repeats.map(({ id }) => id)]).toEqual(["ok", false, [first.id]]);
  expect(await recordsOf(one.app.client, account)).toEqual({ contacts: 1, notes: 0, claims: 1 });
});

test("a first request that fails with 500 leaves its key to the waiting duplicate [IDM-11, IDM-12]", async () => {
  const account = await one.account();
  const fault = { failCommands: ["insert"], errorCode: 2, blockConnection: true, blockTimeMS: 400, appName: "records" };
  const responses = await withFault(injector.mongod, { times: 1 }, fault, () =>
    Promise.all([send(wires.REST, one, account), send(wires.REST, two, account)]),
  );
  expect(responses.map(({ outcome }) => outcome).sort()).toEqual(["500", "ok"]);
  expect((await send(wires.REST, one, account)).replayed).toBe(true);
  expect(await recordsOf(one.app.client, account)).toEqual({ contacts: 1, notes: 0, claims: 1 });
});

test("a repetition for which MongoDB could not look up the first response keeps the key, and the next one gets the response [IDM-11, IDM-15]", async () => {
  const account = await one.account();
  const first = await send(wires.REST, one, account);
  const redis = new Redis(injector.redis.uri);
  await redis.flushall();
  redis.disconnect();
  const fault = {
    failCommands: ["find"],
    errorCode: 2,
    namespace: `${one.app.client.db().databaseName}.idempotency`,
    appName: "records",
  };
  const failed = await withFault(injector.mongod, { times: 1 }, fault, () => send(wires.REST, one, account));
  expect(failed.outcome).toBe("500");
  expect(await send(wires.REST, two, account)).toEqual({ ...first, replayed: true });
});
