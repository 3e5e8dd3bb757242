// The line of a request explains where its time went, who sent it and, where the service failed it, why.
import { randomUUID } from "node:crypto";
import { createHash } from "node:crypto";
import { createConnection } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { until } from "../../src/embedded/wait.ts";
import { ingestInto } from "../../fixtures/clients/ingest.ts";
import type { OwnMongod } from "../../fixtures/databases/own-mongod.ts";
import { startOwnMongod, withFault } from "../../fixtures/databases/own-mongod.ts";
import type { TestAccount, TestService } from "../../fixtures/service/service.ts";
import { startInstance, startService } from "../../fixtures/service/service.ts";
import { exportAll, importAll } from "../support/streams.ts";

vi.setConfig({ testTimeout: 60_000 });

type Line = Readonly<Record<string, unknown>>;

let service: TestService;
let owner: TestAccount;
let token: string;

beforeAll(async () => {
  service = await startService();
  owner = await service.account();
  token = createHash("sha256").update(service.serviceToken).digest("hex").slice(0, 8);
});
afterAll(() => service.stop());

/** The lines that fit, once there is one. */
async function linesOf(fits: (line: Line) => boolean, from = service): Promise<Line[]> {
  const find = (): Line[] =>
    from.logLines.map((line) => JSON.parse(line) as Line).filter((line) => line["msg"] === "request" && fits(line));
  await until(() => Promise.resolve(find().length > 0), AbortSignal.timeout(5_000)).catch(() => undefined);
  return find();
}

/** The line of the request with this id. */
async function lineOf(id: string, from = service): Promise<Line> {
  const [line] = await linesOf((one) => one["id"] === id, from);
  if (line === undefined) throw new Error("the request has no line");
  return line;
}

const above = (least: number): unknown =>
  expect.toSatisfy((value: unknown) => typeof value === "number" && value > least);

describe("what a request spent", () => {
  test("a search names its commands, its time in MongoDB and in Redis, and the records in the response [OPS-25]", async () => {
    await ingestInto(service, owner.id).contacts({ full_name: "Ann Lee" }, { full_name: "Ann Poe" });
    await service.rest("/v1/contacts?query=ann", { key: owner.key });
    const id = randomUUID();
    const { body } = await service.rest("/v1/contacts?query=ann", { key: owner.key, headers: { "X-Request-Id": id } });
    const line = await lineOf(id);
    expect(line).toMatchObject({
      db_commands: 1,
      db_ms: above(0),
      redis_ms: above(0),
      rows: (body.data as unknown[]).length,
    });
    expect(line["rows"]).toBe(2);
    expect(Number(line["db_ms"]) + Number(line["redis_ms"])).toBeLessThanOrEqual(Number(line["ms"]) + 1);
  });

  test("a transaction counts each of its commands [OPS-25]", async () => {
    const id = randomUUID();
    await service.rest("/v1/contacts", {
      key: owner.key,
      body: { full_name: "Bo Day" },
      headers: { "X-Request-Id": id, "Idempotency-Key": randomUUID() },
    });
    // The key's look-up, the claim, the contact and the commit.
    expect(await lineOf(id)).toMatchObject({ status: 201, db_commands: 4, db_ms: above(0) });
  });

  test("a request that waits for a place names the time in the queue [OPS-25]", async () => {
    const narrow = await service.another({ MAX_IN_FLIGHT: "1" });
    try {
      await narrow.rest("/v1/contacts?query=ann", { key: owner.key });
      await Promise.all(Array.from({ length: 20 }, () => narrow.rest("/v1/contacts?query=ann", { key: owner.key })));
      const [waited] = await linesOf((line) => Number(line["queue_ms"]) > 0, narrow);
      expect(waited).toMatchObject({ status: 200, route: "/v1/contacts" });
    } finally {
      await narrow.stop();
    }
  });
});

describe("who sent it", () => {
  test("a public request has the address of its client [OPS-25]", async () => {
    const id = randomUUID();
    await service.rest("/v1/health", { headers: { "X-Request-Id": id } });
    expect(await lineOf(id)).toMatchObject({ address: "127.0.0.1" });
  });

  test.each([
    ["truncated", "198.51.100.0/24", "2001:db8:1::/48"],
    ["none", undefined, undefined],
    ["full", "198.51.100.7", "2001:db8:1:2::3"],
  ])("with LOG_ADDRESSES=%s an address is shown as %s and %s [OPS-25]", async (setting, ipv4, ipv6) => {
    const proxied = await service.another({ LOG_ADDRESSES: setting, TRUST_PROXY: "1" });
    try {
      for (const [sent, shown] of [
        ["198.51.100.7", ipv4],
        ["2001:db8:1:2::3", ipv6],
      ] as const) {
        const id = randomUUID();
        await proxied.rest("/v1/health", { headers: { "X-Request-Id": id, "X-Forwarded-For": sent } });
        expect((await lineOf(id, proxied))["address"]).toBe(shown);
      }
      expect(proxied.logLines.join("").includes("198.51.100.7")).toBe(setting === "full");
    } finally {
      await proxied.stop();
    }
  });

  test.each([
    ["records.admin.v1.AccountService/GetAccount", () => ({ account_id: owner.id }), {}],
    ["records.admin.v1.AccountService/SetBetaEnrolment", () => ({ account_id: owner.id, enrolled: true }), {}],
    [
      "records.ingest.v1.IngestService/ArchiveContacts",
      () => ({ account_id: owner.id, contact_ids: [randomUUID()] }),
      {},
    ],
    ["records.v1.ContactService/SearchContacts", () => ({ query: "ann" }), { "records-account-id": "owner" }],
  ])("an internal call of %s names the service token and the account [OPS-25]", async (rpc, message, headers) => {
    const id = randomUUID();
    const named = Object.fromEntries(Object.keys(headers).map((name) => [name, owner.id]));
    await service.internalCall(rpc, message(), { ...named, "X-Request-Id": id });
    expect(await lineOf(id)).toMatchObject({
      listener: "internal",
      service_token: token,
      account: owner.id,
      address: "127.0.0.1",
    });
  });

  test("a call that creates an account names it, and one that revokes a key names the key's account [OPS-25]", async () => {
    const [creation, revocation] = [randomUUID(), randomUUID()];
    const { body } = await service.internalCall(
      "records.admin.v1.AccountService/CreateAccount",
      { email: `${randomUUID()}@example.com` },
      { "X-Request-Id": creation },
    );
    expect(await lineOf(creation)).toMatchObject({ account: body.account.id });
    const { id, key } = await service.account();
    await service.internalCall(
      "records.admin.v1.AccountService/RevokeApiKey",
      { key: key.slice(0, 8), reason: "a test" },
      { "X-Request-Id": revocation },
    );
    expect(await lineOf(revocation)).toMatchObject({ account: id });
  });

  test("an internal call that names no account has the service token alone, and a wrong token is not shown [OPS-25]", async () => {
    const [right, wrong] = [randomUUID(), randomUUID()];
    await service.internalCall("records.admin.v1.InterfaceService/GetState", {}, { "X-Request-Id": right });
    await service.internalCall(
      "records.admin.v1.InterfaceService/GetState",
      {},
      { "X-Request-Id": wrong, Authorization: "Bearer wrong" },
    );
    expect(await lineOf(right)).toMatchObject({ service_token: token });
    expect(await lineOf(right)).not.toHaveProperty("account");
    expect(await lineOf(wrong)).not.toHaveProperty("service_token");
  });

  test("an import and an export name the service token, the account and the records [OPS-25]", async () => {
    const { id } = await service.account();
    await importAll(service, {
      accountId: id,
      records: [{ contact: { full_name: "Ann" } }, { contact: { full_name: "Bo" } }, { contact: { full_name: "Cy" } }],
    });
    await exportAll(service, id);
    const lines = await linesOf(({ account, rpc }) => account === id && String(rpc).endsWith("port"));
    await until(
      async () => (await linesOf(({ account, rpc }) => account === id && String(rpc).endsWith("port"))).length === 2,
      AbortSignal.timeout(5_000),
    );
    for (const line of await linesOf(({ account }) => account === id))
      expect(line).toMatchObject({ service_token: token, rows: 3, db_ms: above(0) });
    expect(lines.length).toBeGreaterThan(0);
  });
});

describe("why the service failed it", () => {
  let mongod: OwnMongod;
  let faulty: TestService;
  let account: TestAccount;

  beforeAll(async () => {
    mongod = await startOwnMongod();
    faulty = await startInstance(mongod, service.redis, {});
    account = await faulty.account();
    await faulty.rest("/v1/contacts?query=ann", { key: account.key });
  });
  afterAll(async () => {
    await faulty.stop();
    await mongod.stop();
  });
  afterEach(() => vi.restoreAllMocks());

  const hanging = (command: string) => ({
    failCommands: [command],
    blockConnection: true,
    blockTimeMS: 8_000,
    appName: "records",
  });

  test.each([
    ["a read", "aggregate", undefined, "mongodb aggregate contacts"],
    ["a transaction", "commitTransaction", { full_name: "Ann" }, "mongodb commitTransaction"],
  ])(
    "%s that hangs until the deadline names the command that was waited for [OPS-26]",
    async (_what, command, body, waitingFor) => {
      const id = randomUUID();
      const headers = { "X-Request-Id": id, ...(body === undefined ? {} : { "Idempotency-Key": randomUUID() }) };
      await withFault(mongod, "alwaysOn", hanging(command), async () => {
        expect(
          (
            await faulty.rest(`/v1/contacts${body === undefined ? "?query=ann" : ""}`, {
              key: account.key,
              body,
              headers,
            })
          ).status,
        ).toBe(503);
      });
      const line = await lineOf(id, faulty);
      expect(line).toMatchObject({ status: 503, waiting_for: waitingFor, db_ms: above(3_000) });
      expect(line["cause"]).toMatch(/^(deadline|MongoServerError 50 MaxTimeMSExpired)$/);
    },
  );

  test("a command that MongoDB fails names the error's class and code, and never its message [OPS-26]", async () => {
    const id = randomUUID();
    await withFault(
      mongod,
      { times: 4 },
      { failCommands: ["aggregate"], errorCode: 13, appName: "records" },
      async () => {
        expect(
          (await faulty.rest("/v1/contacts?query=ann", { key: account.key, headers: { "X-Request-Id": id } })).status,
        ).toBe(503);
      },
    );
    expect(await lineOf(id, faulty)).toMatchObject({
      status: 503,
      cause: "MongoServerError 13 Unauthorized",
      waiting_for: "mongodb aggregate contacts",
    });
  });

  test("a request that finds the queue full, or paused writes, says so [OPS-26]", async () => {
    const narrow = await faulty.another({ MAX_IN_FLIGHT: "1" });
    try {
      await narrow.rest("/v1/contacts?query=ann", { key: account.key });
      await withFault(mongod, "alwaysOn", { ...hanging("aggregate"), blockTimeMS: 3_500 }, () =>
        Promise.all(Array.from({ length: 3 }, () => narrow.rest("/v1/contacts?query=ann", { key: account.key }))),
      );
      expect((await linesOf((line) => line["cause"] === "overload", narrow))[0]).toMatchObject({
        status: 503,
        waiting_for: "a place",
        queue_ms: above(2_900),
      });
      await narrow.internalCall("records.admin.v1.InterfaceService/SetWrites", { enabled: false });
      const id = randomUUID();
      expect(
        (
          await narrow.rest("/v1/contacts", {
            key: account.key,
            body: { full_name: "Ann" },
            headers: { "X-Request-Id": id },
          })
        ).status,
      ).toBe(503);
      expect(await lineOf(id, narrow)).toMatchObject({ cause: "WRITES_PAUSED" });
    } finally {
      await narrow.internalCall("records.admin.v1.InterfaceService/SetWrites", { enabled: true });
      await narrow.stop();
    }
  });

  test("an accident (500) names the error's class [OPS-26]", async () => {
    vi.spyOn(faulty.app.services.accounts, "get").mockRejectedValue(new TypeError("of Ann Lee"));
    const id = randomUUID();
    expect(
      (
        await faulty.internalCall(
          "records.admin.v1.AccountService/GetAccount",
          { account_id: account.id },
          { "X-Request-Id": id },
        )
      ).status,
    ).toBe(500);
    const line = await lineOf(id, faulty);
    expect(line).toMatchObject({ status: 500, cause: "TypeError" });
    expect(line).not.toHaveProperty("waiting_for");
  });

  test("a request that is cut off at the end of the grace period has a line that says so [OPS-26]", async () => {
    const ending = await faulty.another();
    const id = randomUUID();
    const body = JSON.stringify({ full_name: "Ann" });
    const port = ending.app.port;
    const socket = createConnection(port, "127.0.0.1");
    socket.on("error", () => undefined);
    // The body never comes whole: nothing but the end of the grace period ends this request in time.
    socket.write(
      `POST /v1/contacts HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${id}\r\nAuthorization: Bearer ${account.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
    await ending.stop();
    socket.destroy();
    const line = ending.logLines.map((text) => JSON.parse(text) as Line).find((one) => one["id"] === id);
    expect(line).toMatchObject({ msg: "request", status: 503, cause: "cut off", account: account.id });
  });
});
