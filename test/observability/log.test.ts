// A request's log line reports its wire, its caller and its trace, on every wire; and without a collector nothing of
// OpenTelemetry is loaded.
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { newSecret } from "../../src/api-keys/secret.ts";
import { until } from "../../src/embedded/wait.ts";
import { parseTraceParent } from "../../src/observability/trace-parent.ts";
import { grpcCall } from "../fixtures/clients/http2-call.ts";
import type { TestAccount } from "../fixtures/service/service.ts";
import { useService } from "../support/client.ts";
import { openWires } from "../fixtures/clients/wires.ts";
import { lineOf } from "./request-lines.ts";

const service = useService();
let owner: TestAccount;

beforeAll(async () => {
  owner = await service().account();
});

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";

test.each([
  [`00-${traceId}-00f067aa0ba902b7-01`, true],
  [`00-${traceId}-00f067aa0ba902b7-00`, true],
  [`cc-${traceId}-00f067aa0ba902b7-01-what-comes-later`, true],
  [`00-${traceId}-00f067aa0ba902b7-01-more`, false],
  [`ff-${traceId}-00f067aa0ba902b7-01`, false],
  [`00-${"0".repeat(32)}-00f067aa0ba902b7-01`, false],
  [`00-${traceId}-${"0".repeat(16)}-01`, false],
  [`00-${traceId.toUpperCase()}-00f067aa0ba902b7-01`, false],
  [`00-${traceId}-00f067aa0ba902b7`, false],
  ["<script>", false],
])("the log line has the caller's traceparent %s as trace_id: %s", async (traceparent, valid) => {
  const id = randomUUID();
  await service().rest("/v1/health", { headers: { traceparent, "X-Request-Id": id } });
  expect((await lineOf(id, service()))["trace_id"]).toBe(valid ? traceId : undefined);
  expect(parseTraceParent(traceparent)?.traceId).toBe(valid ? traceId : undefined);
});

test("the log line has the name of its wire, with the rpc, the account and the key prefix", async () => {
  const { wires, close } = openWires(service());
  const before = service().logLines.length;
  for (const wire of wires) await wire.call({ rpc: "SearchContacts", key: owner.key, request: { query: "ann" } });
  close();
  await until(() => Promise.resolve(service().logLines.length >= before + 4), AbortSignal.timeout(5_000));
  const lines = service()
    .logLines.slice(before)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.map(({ wire }) => wire).sort()).toEqual(["connect", "grpc", "grpc-web", "rest"]);
  for (const line of lines)
    expect(line).toMatchObject({
      rpc: "records.v1.ContactService/SearchContacts",
      account: owner.id,
      key: owner.key.slice(0, 8),
      status: 200,
    });
  for (const { wire, code } of lines) expect(code).toBe(wire === "rest" ? undefined : "ok");
});

test("the lines of a call on behalf of an account, a rejected gRPC call and an unknown key have the account, the key and the code, as far as these are known", async () => {
  const [internal, rejected, unknown, page] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  await service().internalCall(
    "records.v1.ContactService/SearchContacts",
    { query: "ann" },
    { "records-account-id": owner.id, "X-Request-Id": internal },
  );
  await grpcCall(service().base, "records.v1.ContactService/SearchContacts", Buffer.alloc(0), {
    "x-request-id": rejected,
  });
  await service().rest("/v1/contacts?query=ann", { key: newSecret(), headers: { "X-Request-Id": unknown } });
  await service().rest("/openapi.json", { headers: { "X-Request-Id": page } });
  expect(await lineOf(internal, service())).toMatchObject({
    listener: "internal",
    wire: "connect",
    account: owner.id,
    code: "ok",
  });
  expect(await lineOf(rejected, service())).toMatchObject({ wire: "grpc", status: 200, code: "unauthenticated" });
  const line = await lineOf(unknown, service());
  expect(line).toMatchObject({ wire: "rest", route: "/v1/contacts", status: 401 });
  expect(line).not.toHaveProperty("key");
  expect(line).not.toHaveProperty("account");
  expect(await lineOf(page, service())).toMatchObject({ wire: "page", route: "/openapi.json" });
});

test("loads the tracing SDK only with a collector", async () => {
  const loaded = async (tracing: object | undefined): Promise<string> => {
    const program = `
      import { createRequire } from "node:module";
      import { pino } from "pino";
      import { createObservability } from "./src/observability/observability.ts";
      const watch = await createObservability(${JSON.stringify(tracing)}, pino({ enabled: false }));
      await watch.close();
      process.stdout.write(String(Object.keys(createRequire(import.meta.url).cache).some((path) => path.includes("sdk-trace"))));`;
    const { stdout } = await promisify(execFile)(process.execPath, [
      "--import",
      "tsx",
      "--input-type=module",
      "-e",
      program,
    ]);
    return stdout;
  };
  expect(await loaded(undefined)).toBe("false");
  expect(await loaded({ url: "http://127.0.0.1:9/v1/traces", headers: {}, serviceName: "records", ratio: 1 })).toBe(
    "true",
  );
});
