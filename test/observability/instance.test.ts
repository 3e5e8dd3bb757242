// What an operator sets and takes on one running instance: the level of its log, and profiles.
import { createHash } from "node:crypto";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { until } from "../../src/embedded/wait.ts";
import { Health } from "../../src/gen/grpc/health/v1/health_pb.ts";
import { startProgram, endProgram } from "../program.ts";
import { ingestInto } from "../fixtures/clients/ingest.ts";
import { startOwnMongod } from "../fixtures/databases/own-mongod.ts";
import type { TestAccount, TestService } from "../fixtures/service/service.ts";
import { sessionSecret, startInstance } from "../fixtures/service/service.ts";
import { useService } from "../support/client.ts";

vi.setConfig({ testTimeout: 60_000 });

type Line = Readonly<Record<string, unknown>>;

const service = useService();
let owner: TestAccount;

beforeAll(async () => {
  owner = await service().account();
});

const linesOf = (from: TestService): Line[] => from.logLines.map((line) => JSON.parse(line) as Line);

async function probe(from: TestService, path: string): Promise<number> {
  const response = await fetch(from.internal + path);
  await response.arrayBuffer();
  return response.status;
}

describe("the level of the log", () => {
  const setLevel = (level: string, headers = {}) =>
    service().internalCall("records.admin.v1.InstanceService/SetLogLevel", { level }, headers);
  const levels = async () => (await service().internalCall("records.admin.v1.InstanceService/GetLogLevel", {})).body;

  test("changes by an rpc, and the log has the service token and the address [OPS-27]", async () => {
    expect(await levels()).toEqual({ level: "info", configured: "info" });
    expect((await setLevel("silent", { "X-Request-Id": "to-silent" })).body).toEqual({
      level: "silent",
      before: "info",
    });
    const before = service().logLines.length;
    await service().rest("/v1/health");
    expect(service().logLines.length).toBe(before);
    expect((await setLevel("debug")).body).toEqual({ level: "debug", before: "silent" });
    await probe(service(), "/livez");
    await until(
      () => Promise.resolve(linesOf(service()).some(({ route }) => route === "/livez")),
      AbortSignal.timeout(5_000),
    );
    expect((await setLevel("info")).body).toEqual({ level: "info", before: "debug" });
    const token = createHash("sha256").update(service().serviceToken).digest("hex").slice(0, 8);
    const changes = linesOf(service()).filter(({ msg }) => msg === "log level changed");
    expect(changes).toMatchObject([
      { level: 40, from: "info", to: "silent", id: "to-silent", service_token: token, address: "127.0.0.1" },
      { from: "silent", to: "debug", service_token: token },
      { from: "debug", to: "info", service_token: token },
    ]);
  });

  test("accepts only the levels of the log, and requires a service token [OPS-27]", async () => {
    expect((await setLevel("loud")).status).toBe(400);
    expect((await setLevel("debug", { Authorization: "Bearer wrong" })).status).toBe(401);
    expect(await levels()).toEqual({ level: "info", configured: "info" });
  });

  test("is debug after SIGUSR2, and the configured one after the next SIGUSR2 [OPS-27]", async () => {
    const program = await startProgram({
      ...{
        MONGODB_URI: service().mongodbUri,
        REDIS_URL: service().redis.uri,
        SERVICE_TOKENS: service().serviceToken,
        SESSION_SECRET: sessionSecret,
      },
      LOG_LEVEL: "warn",
    });
    try {
      const changed = async (to: string): Promise<void> => {
        program.child.kill("SIGUSR2");
        await until(
          () => Promise.resolve(program.stdout.includes(`"to":"${to}","signal":"SIGUSR2"`)),
          AbortSignal.timeout(5_000),
        );
      };
      await changed("debug");
      await fetch(`${program.internal}/livez`);
      await until(() => Promise.resolve(program.stdout.includes('"route":"/livez"')), AbortSignal.timeout(5_000));
      await changed("warn");
      expect(program.stdout).toMatch(/"to":"debug"[^]*"route":"\/livez"[^]*"to":"warn"/);
    } finally {
      await endProgram(program);
    }
  });
});

describe("probes", () => {
  test("have no line at info, over HTTP or gRPC, and other requests have one [OPS-27]", async () => {
    const before = service().logLines.length;
    for (const path of ["/livez", "/readyz", "/metrics"]) expect(await probe(service(), path)).toBe(200);
    await createClient(Health, createGrpcTransport({ baseUrl: service().internal })).check({});
    await service().rest("/v1/health", { headers: { "X-Request-Id": "after-probes" } });
    await until(
      () => Promise.resolve(linesOf(service()).some(({ id }) => id === "after-probes")),
      AbortSignal.timeout(5_000),
    );
    expect(
      linesOf(service())
        .slice(before)
        .map(({ id }) => id),
    ).toEqual(["after-probes"]);
  });

  test("have a line with the reason when they start to fail, and one when they succeed again [OPS-27, OPS-26]", async () => {
    const mongod = await startOwnMongod();
    const instance = await startInstance(mongod, service().redis, {});
    const readiness = (): Line[] => linesOf(instance).filter(({ route }) => route === "/readyz");
    try {
      for (const member of mongod.members) process.kill(member.pid, "SIGSTOP");
      await until(async () => (await probe(instance, "/readyz")) === 503, AbortSignal.timeout(20_000));
      for (let turn = 0; turn < 3; turn++) await probe(instance, "/readyz");
      for (const member of mongod.members) process.kill(member.pid, "SIGCONT");
      await until(async () => (await probe(instance, "/readyz")) === 200, AbortSignal.timeout(20_000));
      await until(() => Promise.resolve(readiness().length >= 2), AbortSignal.timeout(5_000));
      expect(readiness()).toMatchObject([
        { level: 40, status: 503, cause: expect.any(String) as string },
        { level: 30, status: 200 },
      ]);
    } finally {
      await instance.stop();
      await mongod.stop();
    }
  });
});

describe("a profile", () => {
  const profile = (path: string, token = service().serviceToken) =>
    fetch(`${service().internal}${path}`, { headers: { Authorization: `Bearer ${token}` } });

  test("names the functions that the processor ran [OPS-28]", async () => {
    const taking = profile("/profiles/cpu?seconds=1");
    for (let turn = 0; turn < 20; turn++) await service().rest("/v1/contacts?query=ann", { key: owner.key });
    const response = await taking;
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json; charset=utf-8"]);
    const { nodes, samples } = (await response.json()) as {
      nodes: readonly { callFrame: { url: string } }[];
      samples: readonly number[];
    };
    expect(samples.length).toBeGreaterThan(10);
    expect(nodes.some(({ callFrame }) => callFrame.url.includes("node:"))).toBe(true);
  });

  test("has the functions and sizes of the heap, and no text of a record [OPS-28]", async () => {
    const text = "Marmalade Quillfeather";
    await ingestInto(service(), owner.id).contact({ full_name: text });
    const taking = profile("/profiles/heap?seconds=1");
    for (let turn = 0; turn < 50; turn++) await service().rest("/v1/contacts?query=marmalade", { key: owner.key });
    const found = await (await taking).text();
    expect(JSON.parse(found)).toMatchObject({ head: { callFrame: { functionName: "(root)" } } });
    expect(found.toLowerCase()).not.toContain("marmalade");
  });

  test("runs one at a time, is bounded, and requires the service token [OPS-28]", async () => {
    const first = await profile("/profiles/cpu?seconds=1");
    const second = await profile("/profiles/heap?seconds=1");
    expect([second.status, await second.json()]).toMatchObject([
      409,
      { error: { message: "This instance is already taking a profile. Try again when it is done." } },
    ]);
    await first.text();
    for (const seconds of ["0", "61", "1.5", "", "ten"])
      expect((await profile(`/profiles/cpu?seconds=${seconds}`)).status, seconds).toBe(422);
    for (const path of ["/profiles/cpu", "/profiles/heap"]) expect((await profile(path, "wrong")).status).toBe(401);
    expect((await fetch(`${service().internal}/profiles/cpu`, { method: "POST" })).status).toBe(401);
    expect((await profile("/profiles/other")).status).toBe(404);
    expect((await service().rest("/profiles/cpu", { key: owner.key })).status).toBe(404);
  });

  test("ends when its caller disconnects [OPS-28]", async () => {
    const left = new AbortController();
    await fetch(`${service().internal}/profiles/cpu?seconds=60`, {
      headers: { Authorization: `Bearer ${service().serviceToken}` },
      signal: left.signal,
    });
    left.abort();
    await until(
      async () =>
        (await profile("/profiles/cpu?seconds=1").then(async (next) => (await next.text(), next.status))) === 200,
      AbortSignal.timeout(10_000),
    );
  });
});
