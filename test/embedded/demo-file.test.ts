// How a start uses an existing `demo.json`: it keeps the keys of a valid file, and replaces a damaged one.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UUID } from "mongodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DemoProfile } from "../../src/embedded/demo/records.ts";
import { createDemo } from "../../src/embedded/demo.ts";
import type { FailureReason } from "../../src/call/errors.ts";
import { Failure } from "../../src/call/errors.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import type { TestService } from "../fixtures/service/service.ts";
import { rest, startService } from "../fixtures/service/service.ts";

const issuer = "https://id.example";
const user: Parameters<typeof createDemo>[2][number] = {
  profile: "waiting",
  email: "kept@example.com",
  subject: "kept",
  name: "Kept",
  password: "a password",
  enrolled: true,
  access: "read_write",
};

let service: TestService;
const folder = mkdtempSync(join(tmpdir(), "records-demo-file-"));
const file = join(folder, "demo.json");
beforeAll(async () => void (service = await startService()));
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** What a start does, and the key that it shows. */
async function start(): Promise<string> {
  const demo = createDemo(folder, issuer, [user], () => undefined);
  await demo.fill(service.app.services);
  const at = "http://localhost:1";
  const where = { baseUrl: at, internalUrl: at, serviceToken: "token", mongodbUri: "mongodb://m", redisUrl: undefined };
  return (await demo.announce(where)) ?? "none";
}

test("repeats a write that the database could not do in time; another failure ends the start [OPS-05]", async () => {
  const { services } = service.app;
  const failing = (reason: FailureReason, profile: DemoProfile): Promise<void> => {
    let failed = false;
    const link: typeof services.accounts.link = async (id, identity) => {
      const linked = await services.accounts.link(id, identity);
      if (failed) return linked;
      failed = true;
      throw new Failure(reason);
    };
    const demo = createDemo(folder, issuer, [{ ...user, profile }], () => undefined);
    return demo.fill({ ...services, accounts: { ...services.accounts, link } });
  };
  await failing(Reason.UNAVAILABLE, "reader");
  expect(await services.accounts.list(10, 0, undefined)).toHaveLength(1);
  await expect(failing(Reason.DUPLICATE_EMAIL, "waiting")).rejects.toThrow(Failure);
});

test("a start shows the same key as the previous start [OPS-05]", async () => {
  expect(await start()).toBe(await start());
});

test.each<[string, (content: string) => string]>([
  ["is not JSON", (content) => content.slice(0, 40)],
  ["is null", () => "null"],
  ["is a text", () => '"demo"'],
  ["is an empty object", () => "{}"],
  ["has accounts that are not a list", () => '{"accounts":{"find":1}}'],
  ["lists null", () => '{"accounts":[null,1,"x",[]]}'],
  ["has an id that is not a text", (content) => content.replace(/"account_id": "[^"]*"/, '"account_id": 1')],
])("rewrites a file that %s, with a new key that replaces the old one", async (_what, damaged) => {
  const before = await start();
  writeFileSync(file, damaged(readFileSync(file, "utf8")));
  const after = await start();
  expect(after).not.toBe(before);
  const status = async (key: string): Promise<number> =>
    (await rest(service.base, "/v1/sessions?limit=1", { key })).status;
  expect([await status(before), await status(after)]).toEqual([401, 200]);
  expect(await service.app.services.accounts.list(10, 0, undefined)).toHaveLength(1);
  expect(readFileSync(file, "utf8")).toContain(after);
});

test("a key that its user has rotated or revoked stays so: a start creates no replacement [KEY-02, KEY-10, KEY-18]", async () => {
  const before = await start();
  const { apiKeys, accounts } = service.app.services;
  const [{ _id: id } = { _id: new UUID() }] = await accounts.list(1, 0, undefined);
  await apiKeys.revoke(id);
  const { secret } = await apiKeys.create(id, "read_only");
  expect([await start(), await start()]).toEqual(["none", "none"]);
  expect((await rest(service.base, "/v1/sessions?limit=1", { key: secret })).status).toBe(200);
  expect((await rest(service.base, "/v1/sessions?limit=1", { key: before })).status).toBe(401);
  await apiKeys.revoke(id);
  expect(await start()).toBe("none");
  expect(await apiKeys.ofAccount(id, undefined)).toBeUndefined();
});

test("the audit log has the keys that a start creates [KEY-19]", async () => {
  rmSync(file);
  await start();
  const { accounts, audit } = service.app.services;
  const [{ _id: id } = { _id: new UUID() }] = await accounts.list(1, 0, undefined);
  const entries = await audit.list(id, { limit: 50, offset: 0 }, undefined);
  expect(entries.at(-1)).toMatchObject({ event: "key_created", person: "the demo" });
  expect(entries.map(({ event }) => event)).toContain("key_rotated");
});
