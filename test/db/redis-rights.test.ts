// The smallest rights of a user of Redis, as the guide lists them: the service and the doctor need no others.
import { readFileSync } from "node:fs";
import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import { startOwnRedis } from "../fixtures/databases/own-redis.ts";
import { startService } from "../fixtures/service/service.ts";
import { runDoctor } from "../../src/cli/doctor/doctor.ts";
import { environmentOf } from "../cli/doctor/set-up.ts";

test("a user with the documented rights is enough for the service and the doctor [OPS-04]", async () => {
  const redis = await startOwnRedis();
  onTestFinished(() => redis.stop());
  const administrator = new Redis(redis.uri);
  onTestFinished(() => administrator.disconnect());
  const guide = readFileSync(new URL("../../docs/production.md", import.meta.url), "utf8");
  const rights = /^ACL SETUSER records on ><password> (.*)$/m.exec(guide)?.[1] ?? "";
  await administrator.call("ACL", "SETUSER", "records", "on", ">a-password", ...rights.split(" "));
  const address = new URL(redis.uri);
  [address.username, address.password] = ["records", "a-password"];
  const service = await startService({ REDIS_URL: address.href, RATE_LIMIT: "1", RATE_BURST: "3" });
  onTestFinished(() => service.stop());
  const { key } = await service.account();
  const create = { method: "POST", key, body: { full_name: "Ann Lee" }, headers: { "Idempotency-Key": "k-1" } };
  const first = await service.rest("/v1/contacts", create);
  const again = await service.rest("/v1/contacts", create);
  expect([first.status, again.status, again.headers.get("idempotent-replayed")]).toEqual([201, 201, "true"]);
  const statuses = await Promise.all(
    Array.from({ length: 6 }, async () => (await service.rest("/v1/contacts?query=ann", { key })).status),
  );
  expect(statuses).toContain(429);
  expect((await fetch(`${service.base}/docs`)).status).toBe(200);
  const findings = await runDoctor({ ...environmentOf(service, {}), REDIS_URL: address.href });
  expect(findings.filter(({ check, status }) => check.startsWith("redis.") && status === "fault")).toEqual([]);
  // The client library introduces itself (CLIENT SETINFO), and ignores that it may not.
  const denied = (await administrator.call("ACL", "LOG")) as string[][];
  expect(
    denied.map((entry) => entry[entry.indexOf("object") + 1]).filter((command) => !/^client\b/.test(command ?? "")),
  ).toEqual([]);
  expect(service.logLines.filter((line) => line.includes("Redis is unavailable"))).toEqual([]);
});

test("the doctor distinguishes missing rights and a wrong password [OPS-04]", async () => {
  const redis = await startOwnRedis();
  onTestFinished(() => redis.stop());
  const administrator = new Redis(redis.uri);
  onTestFinished(() => administrator.disconnect());
  await administrator.call("ACL", "SETUSER", "records", "on", ">a-password", "~*", "-@all", "+get");
  const service = await startService();
  onTestFinished(() => service.stop());
  const faults = async (password: string): Promise<string[]> => {
    const address = new URL(redis.uri);
    [address.username, address.password] = ["records", password];
    const findings = await runDoctor({ ...environmentOf(service, {}), REDIS_URL: address.href });
    return findings.flatMap((one) => (one.check === "redis.reachable" ? [`${one.message} ${one.fix}`] : []));
  };
  expect(await faults("another")).toEqual([expect.stringContaining("rejects the user or the password")]);
  expect(await faults("a-password")).toEqual([
    expect.stringMatching(/the user may not use it: .*rights that docs\/production\.md lists under Redis/),
  ]);
});
