// 429 and 503 of every endpoint, by every wire.
import { expect, onTestFinished, test } from "vitest";
import { counts } from "../support/client.ts";
import { newOwner, reads, writes } from "../support/every.ts";
import type { TestService } from "../fixtures/service/service.ts";
import { startService } from "../fixtures/service/service.ts";
import type { Wire } from "../fixtures/clients/wires.ts";
import { requestsOn } from "../fixtures/clients/operations.ts";
import { openWires } from "../fixtures/clients/wires.ts";

async function start(
  environment: Record<string, string> = {},
): Promise<{ service: TestService; wires: readonly Wire[] }> {
  const service = await startService(environment);
  onTestFinished(() => service.stop());
  const { wires, close } = openWires(service);
  onTestFinished(close);
  return { service, wires };
}

test("every record endpoint is 429 over the rate limit, in the envelope, and writes nothing [CSR-04, CGT-05, CCR-08, CUP-08, CNT-09, SLS-04, SGT-05, STR-05, NOT-04]", async () => {
  const { service } = await start({ RATE_LIMIT: "1", RATE_BURST: "1" });
  const endpoints = await newOwner(service);
  for (const index of [...reads(endpoints), ...writes(endpoints)].keys()) {
    const owner = await newOwner(service);
    const { path, method, body, success } = [...reads(owner), ...writes(owner)][index] ?? writes(owner)[0]!;
    const before = await counts(service);
    const responses = await Promise.all(
      Array.from({ length: 6 }, () => service.rest(path, { key: owner.key, method, body })),
    );
    const rejected = responses.filter(({ status }) => status === 429);
    expect(rejected.length, path).toBeGreaterThan(0);
    expect(responses.filter(({ status }) => status === success).length + rejected.length, path).toBe(6);
    expect(rejected[0]?.body.error.code).toBe("429");
    expect(rejected[0]?.headers.get("retry-after")).toMatch(/^[1-9][0-9]*$/);
    const written =
      Object.values(await counts(service)).reduce((sum, count) => sum + count, 0) -
      Object.values(before).reduce((sum, count) => sum + count, 0);
    expect(written, path).toBe(success === 201 ? 6 - rejected.length : 0);
  }
});

test("429 is resource_exhausted over Connect, gRPC and gRPC-Web [WIR-08]", async () => {
  const { service, wires } = await start({ RATE_LIMIT: "1", RATE_BURST: "1" });
  for (const wire of wires) {
    const { key } = await service.account();
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, () => wire.call({ rpc: "ListSessions", request: {}, key })),
    );
    const rejected = outcomes.find(({ body }) => body === undefined);
    const expected = {
      rest: [429, undefined],
      connect: [429, "resource_exhausted"],
      grpc: [undefined, "resource_exhausted"],
      "grpc-web": [undefined, "resource_exhausted"],
    }[wire.name];
    expect([rejected?.http, rejected?.code], wire.name).toEqual(expected);
  }
});

test("while writes are paused the three writes are 503, unavailable on every wire, and write nothing; reads continue [CCR-09, CUP-09, CNT-10, WIR-08, ADM-05]", async () => {
  const { service, wires } = await start();
  const owner = await newOwner(service);
  const before = await counts(service);
  await service.internalCall("records.admin.v1.InterfaceService/SetWrites", { enabled: false, reason: "maintenance" });
  for (const wire of wires) {
    for (const [rpc, request] of requestsOn(wire, owner, true)) {
      const { http, code, reason, message } = await wire.call({ rpc, request, key: owner.key });
      const rest = wire.name === "rest";
      expect([rest ? http : code, rest ? undefined : reason, message], `${rpc} by ${wire.name}`).toEqual([
        rest ? 503 : "unavailable",
        rest ? undefined : "WRITES_PAUSED",
        "Writes are temporarily unavailable, but reads work. Try again later.",
      ]);
    }
    for (const [rpc, request] of requestsOn(wire, owner, false))
      expect((await wire.call({ rpc, request, key: owner.key })).body, `${rpc} by ${wire.name}`).toBeDefined();
  }
  for (const { path, method, body } of writes(owner)) {
    const response = await service.rest(path, { key: owner.key, method, body });
    expect([response.status, response.body.error.code, response.headers.get("retry-after")], path).toEqual([
      503,
      "503",
      null,
    ]);
  }
  expect(await counts(service)).toEqual(before);
  await service.internalCall("records.admin.v1.InterfaceService/SetWrites", { enabled: true, reason: "done" });
  for (const { path, method, body, success } of writes(owner))
    expect((await service.rest(path, { key: owner.key, method, body })).status, path).toBe(success);
});

test("while the interface is disabled every record rpc is 503, unavailable on every wire; health and the internal listener continue [WIR-08, HLT-05, ADM-05]", async () => {
  const { service, wires } = await start();
  const owner = await newOwner(service);
  await service.internalCall("records.admin.v1.InterfaceService/SetPublicInterface", {
    enabled: false,
    reason: "incident",
  });
  for (const wire of wires) {
    for (const [rpc, request] of requestsOn(wire, owner)) {
      const { http, code, reason, message } = await wire.call({ rpc, request, key: owner.key });
      const rest = wire.name === "rest";
      expect([rest ? http : code, rest ? undefined : reason, message], `${rpc} by ${wire.name}`).toEqual([
        rest ? 503 : "unavailable",
        rest ? undefined : "INTERFACE_DISABLED",
        "The public interface is temporarily disabled. Try again later.",
      ]);
    }
    expect((await wire.call({ rpc: "CheckHealth", request: {} })).body, wire.name).toBeDefined();
  }
  const inside = await service.internalCall(
    "records.v1.ContactService/GetContact",
    { contact_id: owner.contact },
    { "records-account-id": owner.id },
  );
  expect(inside.status).toBe(200);
});
