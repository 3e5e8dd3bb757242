// The line of a request that the service failed explains why: what it waited for, and the error's class and code.
import { randomUUID } from "node:crypto";
import { createConnection } from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import type { OwnMongod } from "../fixtures/databases/own-mongod.ts";
import { injectFault, startOwnMongod, withFault } from "../fixtures/databases/own-mongod.ts";
import type { RestResponse, TestAccount, TestService } from "../fixtures/service/service.ts";
import { startInstance, startService } from "../fixtures/service/service.ts";
import type { Line } from "./request-lines.ts";
import { above, lineOf, linesOf } from "./request-lines.ts";

vi.setConfig({ testTimeout: 60_000 });

/** A request that is cut off, and the stop of its instance. */
interface CutOff {
  readonly id: string;
  readonly stopped: Promise<void>;
}

describe("the reason of a failure", () => {
  /** Lends its Redis. */
  let lender: TestService;
  let mongod: OwnMongod;
  let faulty: TestService;
  let narrow: TestService;
  let ending: TestService;
  let account: TestAccount;
  /** Starts before the tests, which run while it waits for the whole grace period. */
  let cutOff: CutOff;

  beforeAll(async () => {
    [lender, mongod] = await Promise.all([startService(), startOwnMongod()]);
    faulty = await startInstance(mongod, lender.redis, {});
    [narrow, ending] = await Promise.all([faulty.another({ MAX_IN_FLIGHT: "1" }), faulty.another()]);
    account = await faulty.account();
    for (const one of [faulty, narrow]) await search(one);
    cutOff = await startCutOff();
  });
  afterAll(async () => {
    await cutOff.stopped;
    await Promise.all([faulty, narrow].map((one) => one.stop()));
    await mongod.stop();
    await lender.stop();
  });
  const search = (from: TestService, id: string = randomUUID()): Promise<RestResponse> =>
    from.rest("/v1/contacts?query=ann", { key: account.key, headers: { "X-Request-Id": id } });
  const create = (from: TestService, id: string, more: Record<string, string> = {}): Promise<RestResponse> =>
    from.rest("/v1/contacts", {
      key: account.key,
      body: { full_name: "Ann" },
      headers: { "X-Request-Id": id, ...more },
    });

  describe.concurrent("of commands that do not respond", () => {
    let remove: () => Promise<void>;

    beforeAll(async () => {
      remove = await injectFault(mongod, "alwaysOn", {
        failCommands: ["aggregate", "commitTransaction"],
        blockConnection: true,
        // Longer than the deadline of a request.
        blockTimeMS: 5_500,
        appName: "records",
      });
    });
    afterAll(() => remove());

    test.each([
      ["a read", (id: string) => search(faulty, id), "mongodb aggregate contacts"],
      [
        "a transaction",
        (id: string) => create(faulty, id, { "Idempotency-Key": randomUUID() }),
        "mongodb commitTransaction",
      ],
    ])("names the command of %s that is not served by the deadline [OPS-26]", async (_what, send, waitingFor) => {
      const id = randomUUID();
      expect((await send(id)).status).toBe(503);
      const line = await lineOf(id, faulty);
      expect(line).toMatchObject({ status: 503, waiting_for: waitingFor, db_ms: above(3_000) });
      expect(line["cause"]).toMatch(/^(deadline|MongoServerError 50 MaxTimeMSExpired)$/);
    });

    test("names a full queue [OPS-26]", async () => {
      await Promise.all(Array.from({ length: 3 }, () => search(narrow)));
      expect((await linesOf((line) => line["cause"] === "overload", narrow))[0]).toMatchObject({
        status: 503,
        waiting_for: "a slot",
        queue_ms: above(450),
      });
    });
  });

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

  test("names paused writes [OPS-26]", async () => {
    try {
      await narrow.internalCall("records.admin.v1.InterfaceService/SetWrites", { enabled: false });
      const id = randomUUID();
      expect((await create(narrow, id)).status).toBe(503);
      expect(await lineOf(id, narrow)).toMatchObject({ cause: "WRITES_PAUSED" });
    } finally {
      await narrow.internalCall("records.admin.v1.InterfaceService/SetWrites", { enabled: true });
    }
  });

  test("names the class of an unexpected error (500) [OPS-26]", async () => {
    const get = vi.spyOn(faulty.app.services.accounts, "get").mockRejectedValue(new TypeError("of Ann Lee"));
    onTestFinished(() => get.mockRestore());
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
    const { id, stopped } = cutOff;
    await stopped;
    const line = ending.logLines.map((text) => JSON.parse(text) as Line).find((one) => one["id"] === id);
    expect(line).toMatchObject({ msg: "request", status: 503, cause: "cut off", account: account.id });
  });

  /** Sends a request without the end of its body: only the end of the grace period ends it. */
  async function startCutOff(): Promise<CutOff> {
    const id = randomUUID();
    const body = JSON.stringify({ full_name: "Ann" });
    const socket = createConnection(ending.app.port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write(
      `POST /v1/contacts HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${id}\r\nAuthorization: Bearer ${account.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
    return { id, stopped: ending.stop().finally(() => socket.destroy()) };
  }
});
