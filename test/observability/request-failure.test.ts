// The line of a request that the service failed explains why: what it waited for, and the error's class and code.
import { randomUUID } from "node:crypto";
import { createConnection } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type { OwnMongod } from "../fixtures/databases/own-mongod.ts";
import { startOwnMongod, withFault } from "../fixtures/databases/own-mongod.ts";
import type { TestAccount, TestService } from "../fixtures/service/service.ts";
import { startInstance, startService } from "../fixtures/service/service.ts";
import type { Line } from "./request-lines.ts";
import { above, lineOf, linesOf } from "./request-lines.ts";

vi.setConfig({ testTimeout: 60_000 });

describe("the reason of a failure", () => {
  /** Lends its Redis. */
  let lender: TestService;
  let mongod: OwnMongod;
  let faulty: TestService;
  let account: TestAccount;

  beforeAll(async () => {
    [lender, mongod] = await Promise.all([startService(), startOwnMongod()]);
    faulty = await startInstance(mongod, lender.redis, {});
    account = await faulty.account();
    await faulty.rest("/v1/contacts?query=ann", { key: account.key });
  });
  afterAll(async () => {
    await faulty.stop();
    await mongod.stop();
    await lender.stop();
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
    "names the command of %s that is not served by the deadline [OPS-26]",
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

  test("names the class and code of an error of a MongoDB command, and never its message [OPS-26]", async () => {
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

  test("names a full queue and paused writes [OPS-26]", async () => {
    const narrow = await faulty.another({ MAX_IN_FLIGHT: "1" });
    try {
      await narrow.rest("/v1/contacts?query=ann", { key: account.key });
      await withFault(mongod, "alwaysOn", { ...hanging("aggregate"), blockTimeMS: 3_500 }, () =>
        Promise.all(Array.from({ length: 3 }, () => narrow.rest("/v1/contacts?query=ann", { key: account.key }))),
      );
      expect((await linesOf((line) => line["cause"] === "overload", narrow))[0]).toMatchObject({
        status: 503,
        waiting_for: "a slot",
        queue_ms: above(450),
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

  test("names the class of an unexpected error (500) [OPS-26]", async () => {
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

  test("is in the line of a request that is cut off at the end of the grace period [OPS-26]", async () => {
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
