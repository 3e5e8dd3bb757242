// A MongoDB that does not respond: assistants get their response in time all the same.
import { UUID } from "mongodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startOwnMongod, withFault } from "../../../fixtures/databases/own-mongod.ts";
import type { OwnMongod } from "../../../fixtures/databases/own-mongod.ts";
import { accessToken, send } from "../../../fixtures/sign-in/assistants.ts";
import type { FakeProvider } from "../../../fixtures/sign-in/fake-provider.ts";
import { startFakeProvider } from "../../../fixtures/sign-in/fake-provider.ts";
import type { TestService } from "../../../fixtures/service/service.ts";
import { startInstance, startService } from "../../../fixtures/service/service.ts";

/** Lends its Redis. */
let lender: TestService;
let mongod: OwnMongod;
let provider: FakeProvider;
let service: TestService;
let token: string;

beforeAll(async () => {
  [lender, mongod, provider] = await Promise.all([startService(), startOwnMongod(), startFakeProvider()]);
  service = await startInstance(mongod, lender.redis, provider.settings());
  const { id } = await service.account();
  await service.app.services.accounts.link(UUID.createFromHexString(id), { issuer: provider.issuer, subject: "ann" });
  token = await accessToken(provider, { sub: "ann", auth_time: Math.floor(Date.now() / 1_000) });
});
afterAll(async () => {
  await service.stop();
  await Promise.all([mongod.stop(), lender.stop(), provider.stop()]);
});

/** Less than two deadlines, and more than 5 seconds: the tests may have little of the processor. */
const starvedMs = 8_000;

const search = { method: "tools/call", params: { name: "search_contacts", arguments: { query: "ann" } } };

test.each<[string, object]>([
  ["a tool call", search],
  ["a call that reads nothing", { method: "tools/list" }],
])(
  "%s of a known token has its response within 5 seconds while MongoDB does not respond [OPS-15]",
  async (_, message) => {
    expect((await send(service.base, `Bearer ${token}`, search)).status).toBe(200);
    const hangs = { failCommands: ["aggregate"], blockConnection: true, blockTimeMS: 6_000, appName: "records" };
    const { status, ms } = await withFault(mongod, "alwaysOn", hangs, async () => {
      const sentAt = performance.now();
      const { status } = await send(service.base, `Bearer ${token}`, message);
      return { status, ms: performance.now() - sentAt };
    });
    expect({ status, inTime: ms < starvedMs, ms }).toMatchObject({ status: 503, inTime: true });
  },
);
