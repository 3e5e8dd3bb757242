// 429 of every endpoint, on every wire.
import { expect, onTestFinished, test } from "vitest";
import { counts } from "../support/client.ts";
import { newOwner, reads, writes } from "../support/every.ts";
import type { TestService } from "../fixtures/service/service.ts";
import { startService } from "../fixtures/service/service.ts";
import type { Wire } from "../fixtures/clients/wires.ts";
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
