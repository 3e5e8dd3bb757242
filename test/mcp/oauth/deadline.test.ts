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
let instance: TestService;
let removeFault: () => Promise<void>;
let token: string;

const search = { method: "tools/call", params: { name: "search_contacts", arguments: { query: "ann" } } };

beforeAll(async () => {
  [lender, mongod, provider] = await Promise.all([startService(), startOwnMongod(), startFakeProvider()]);
  instance = await startInstance(mongod, lender.redis, provider.settings());
  const { id } = await instance.account();
  await instance.app.services.accounts.link(UUID.createFromHexString(id), { issuer: provider.issuer, subject: "ann" });
  token = await accessToken(provider, { sub: "ann", auth_time: Math.floor(Date.now() / 1_000) });
  expect((await send(instance.base, `Bearer ${token}`, search)).status).toBe(200);
  // Longer than one command may take, and than a request.
  const hangs = { failCommands: ["aggregate"], blockConnection: true, blockTimeMS: 5_200, appName: "records" };
  removeFault = await injectFault(mongod, "alwaysOn", hangs);
});
afterAll(async () => {
  await removeFault();
  await instance.stop();
  await Promise.all([mongod.stop(), lender.stop(), provider.stop()]);
});

test("a tool call with a known token waits no longer than one command may take if MongoDB does not respond, and is 503 [OPS-15]", async () => {
  const toMongo = listenToMongo(instance.app.client);
  const { status } = await send(instance.base, `Bearer ${token}`, search);
  const commands = toMongo.stop();
  expect([status, commands[0]?.label]).toEqual([503, "aggregate ended_sessions"]);
  // A later one may have what the first left of the request's time, and no more.
  for (const { command: later } of commands.slice(1))
    expect(later["maxTimeMS"]).toBeLessThan(deadlineMs - Number(commands[0]?.command["maxTimeMS"]) + 200);
});
