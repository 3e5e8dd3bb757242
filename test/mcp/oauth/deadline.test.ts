// A MongoDB that does not respond: assistants get their response in time all the same.
import { UUID } from "mongodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deadlineMs } from "../../../src/call/deadline.ts";
import { listenToMongo } from "../../fixtures/databases/commands.ts";
import { injectFault, startOwnMongod } from "../../fixtures/databases/own-mongod.ts";
import type { OwnMongod } from "../../fixtures/databases/own-mongod.ts";
import { accessToken, send } from "../../fixtures/sign-in/assistants.ts";
import type { FakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import { startFakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import type { TestService } from "../../fixtures/service/service.ts";
import { startInstance, startService } from "../../fixtures/service/service.ts";

/** Lends its Redis. */
let lender: TestService;
let mongod: OwnMongod;
let provider: FakeProvider;
/** One for each test, which counts its commands. */
let instances: readonly TestService[];
let removeFault: () => Promise<void>;
let token: string;

const search = { method: "tools/call", params: { name: "search_contacts", arguments: { query: "ann" } } };

beforeAll(async () => {
  [lender, mongod, provider] = await Promise.all([startService(), startOwnMongod(), startFakeProvider()]);
  const start = (): Promise<TestService> => startInstance(mongod, lender.redis, provider.settings());
  instances = [await start(), await start()];
  const [service] = instances as [TestService];
  const { id } = await service.account();
  await service.app.services.accounts.link(UUID.createFromHexString(id), { issuer: provider.issuer, subject: "ann" });
  token = await accessToken(provider, { sub: "ann", auth_time: Math.floor(Date.now() / 1_000) });
  for (const { base } of instances) expect((await send(base, `Bearer ${token}`, search)).status).toBe(200);
  // Longer than one command may take, and than a request.
  const hangs = { failCommands: ["aggregate"], blockConnection: true, blockTimeMS: 5_200, appName: "records" };
  removeFault = await injectFault(mongod, "alwaysOn", hangs);
});
afterAll(async () => {
  await removeFault();
  await Promise.all(instances.map((one) => one.stop()));
  await Promise.all([mongod.stop(), lender.stop(), provider.stop()]);
});

test.concurrent.each<[string, object, string, number]>([
  ["a tool call", search, "aggregate contacts", 0],
  ["a call without a read", { method: "tools/list" }, "aggregate ended_sessions", 1],
])(
  "%s with a known token waits no longer than one command may take if MongoDB does not respond, and is 503 [OPS-15]",
  async (_, message, command, at) => {
    const { app, base } = instances[at] as TestService;
    const toMongo = listenToMongo(app.client);
    const { status } = await send(base, `Bearer ${token}`, message);
    const commands = toMongo.stop();
    expect([status, commands[0]?.label]).toEqual([503, command]);
    // A later one may have what the first left of the request's time, and no more.
    for (const { command: later } of commands.slice(1))
      expect(later["maxTimeMS"]).toBeLessThan(deadlineMs - Number(commands[0]?.command["maxTimeMS"]) + 200);
  },
);
