// The public listener serves only the public interface, and the internal one the rest.
import { beforeAll, expect, test } from "vitest";
import { internalOptions } from "../../src/app/internal-listener.ts";
import { createListener } from "../../src/http/listener.ts";
import { grpcCall, http2Call } from "../fixtures/clients/http2-call.ts";
import type { TestAccount } from "../fixtures/service/service.ts";
import { useService } from "../support/client.ts";
import { exchange } from "../fixtures/clients/raw.ts";

const service = useService();
let owner: TestAccount;

beforeAll(async () => {
  owner = await service().account();
});

const internalRpcs = [
  "records.admin.v1.AccountService/CreateAccount",
  "records.admin.v1.AccountService/GetAccount",
  "records.admin.v1.AccountService/ListAccounts",
  "records.admin.v1.AccountService/SetBetaEnrolment",
  "records.admin.v1.InterfaceService/GetState",
  "records.admin.v1.InterfaceService/SetPublicInterface",
  "records.admin.v1.InterfaceService/SetWrites",
  "records.ingest.v1.IngestService/UpsertContacts",
  "records.ingest.v1.IngestService/UpsertSessions",
  "records.ingest.v1.IngestService/PutTranscripts",
  "records.ingest.v1.IngestService/UpsertSessionNotes",
  "records.ingest.v1.IngestService/UpsertContactNotes",
  "records.ingest.v1.IngestService/ArchiveContacts",
  "records.ingest.v1.IngestService/RestoreContacts",
  "grpc.health.v1.Health/Check",
  "grpc.health.v1.Health/Watch",
  "grpc.health.v1.Health/List",
  "grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
  "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];

test.each(internalRpcs)(
  "%s cannot be reached on the public listener, with a service token or an API key [ISO-09, WIR-01]",
  async (rpc) => {
    for (const token of [service().serviceToken, owner.key]) {
      for (const type of ["application/json", "application/proto"]) {
        const response = await fetch(`${service().base}/${rpc}`, {
          method: "POST",
          headers: { "Content-Type": type, Authorization: `Bearer ${token}`, "records-account-id": owner.id },
          body: "{}",
        });
        expect([response.status, ((await response.json()) as { error: { code: string } }).error.code]).toEqual([
          404,
          "404",
        ]);
      }
      for (const type of ["application/grpc", "application/grpc-web+proto"]) {
        const sent = { authorization: `Bearer ${token}`, "content-type": type };
        const { status, headers, text } = await grpcCall(service().base, rpc, Buffer.alloc(0), sent);
        expect([status, headers["grpc-status"], headers["content-type"], text]).toEqual([200, "12", type, ""]);
      }
    }
  },
);

test.each([
  "/metrics",
  "/livez",
  "/readyz",
  "/healthz",
  "/debug/pprof",
  "/v0/health",
  "/v2/health",
  "/admin",
  "/.env",
  "//v1/health",
  "/V1/health",
  "/v1x",
  "/dashboard",
  "/sign-in/",
  "/login",
])("%s does not exist on the public listener [ISO-09, OPS-10, ERR-05, VER-01]", async (path) => {
  for (const method of ["GET", "POST", "OPTIONS"]) {
    const { status, headers, body } = await service().rest(path, { method, key: service().serviceToken });
    expect(status).toBe(404);
    expect(headers.get("Content-Type")).toBe("application/json; charset=utf-8");
    expect(headers.get("X-Request-Id")).toMatch(/./);
    expect(body).toEqual({ error: { code: "404", message: expect.stringMatching(/\S/), reason: "UNKNOWN_PATH" } });
  }
});

test("/livez, /readyz and /metrics respond on the internal listener, without a token [OPS-10]", async () => {
  const get = async (path: string): Promise<[number, string, string]> => {
    const response = await fetch(service().internal + path);
    return [response.status, response.headers.get("Content-Type") ?? "", await response.text()];
  };
  expect(await get("/livez")).toEqual([200, "application/json; charset=utf-8", '{"status":"ok"}']);
  expect(await get("/readyz")).toEqual([
    200,
    "application/json; charset=utf-8",
    '{"status":"ok","mongodb":true,"redis":true}',
  ]);
  const [status, type, text] = await get("/metrics");
  expect([status, type]).toEqual([200, expect.stringMatching(/^text\/plain; version=0\.0\.4/)]);
  expect(text).toMatch(/^# TYPE records_redis_up gauge\nrecords_redis_up 1$/m);
  expect(text).toMatch(/^process_cpu_seconds_total /m);
  expect(text).not.toContain(owner.id);
});

test("the probes accept GET and HEAD alone: another method is 405 with Allow, and OPTIONS is 204 [ERR-01, OPS-10]", async () => {
  for (const path of ["/livez", "/readyz", "/metrics"]) {
    const ask = async (method: string): Promise<unknown[]> => {
      const { status, headers } = await fetch(service().internal + path, { method });
      return [status, headers.get("Allow")];
    };
    for (const method of ["POST", "DELETE"]) expect(await ask(method)).toEqual([405, "GET, HEAD, OPTIONS"]);
    expect([await ask("OPTIONS"), await ask("HEAD")]).toEqual([
      [204, "GET, HEAD, OPTIONS"],
      [200, null],
    ]);
  }
});

test("an internal records.v1 call requires the id of an existing account [ADM-01, ISO-08]", async () => {
  const rpc = "records.v1.ContactService/SearchContacts";
  const codes = await Promise.all(
    [
      {},
      { "records-account-id": "x" },
      { "records-account-id": "00000000-0000-4000-8000-000000000000" },
      { "records-account-id": owner.id.toUpperCase() },
    ].map(
      async (headers) =>
        (await service().internalCall(rpc, { query: "ann" }, headers as Record<string, string>)).body.code as
          | string
          | undefined,
    ),
  );
  expect(codes).toEqual(["invalid_argument", "invalid_argument", "not_found", undefined]);
});

test("the internal listener rejects malformed requests as the public one does: two Authorization lines are 400 [ERR-09]", async () => {
  const { responses } = await exchange(
    service().internal,
    "GET /livez HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\nConnection: close\r\n\r\n",
  );
  expect(responses.map(({ status, body }) => [status, JSON.parse(body).error.code])).toEqual([[400, "400"]]);
});

test("an unknown Expect on /mcp is 417 without rate-limit headers, which MCP never has; under /v1 it has them [RTE-05]", async () => {
  const rejected = async (path: string): Promise<unknown[]> => {
    const { responses } = await exchange(
      service().base,
      `POST ${path} HTTP/1.1\r\nHost: a\r\nExpect: something\r\n\r\n`,
    );
    return responses.map(({ status, headers }) => [status, headers.has("ratelimit-limit")]);
  };
  expect(await rejected("/mcp")).toEqual([[417, false]]);
  expect(await rejected("/v1/contacts")).toEqual([[417, true]]);
});

test("the internal listener rejects an unknown Expect with an id, which is in its log line [FMT-06, ERR-08]", async () => {
  const { responses } = await exchange(
    service().internal,
    "GET /livez HTTP/1.1\r\nHost: a\r\nExpect: something\r\n\r\n",
  );
  expect(responses[0]?.status).toBe(417);
  const id = responses[0]?.headers.get("x-request-id") ?? "none";
  await expect
    .poll(() => service().logLines.find((line) => line.includes(`"${id}"`)))
    .toMatch(/"listener":"internal".*"status":417/);
});

test("metrics that cannot be collected are 500 in the envelope, the cause is logged, and the listener stays up [ERR-01, OPS-26]", async () => {
  const nothing = (): void => undefined;
  const causes: unknown[] = [];
  const probes = {
    ready: () => true,
    dependencies: () => ({}),
    reason: () => undefined,
    metrics: () => Promise.reject(new Error("no numbers")),
  };
  const listener = createListener(
    internalOptions({
      rpc: { serves: () => false, handle: () => Promise.resolve() },
      others: [],
      probes,
      onError: ({ cause }) => void causes.push(cause),
      log: nothing,
      logRejected: nothing,
      onLimit: () => undefined,
    }),
  );
  try {
    const base = `http://127.0.0.1:${await listener.listen(0, "127.0.0.1")}`;
    const failed = await fetch(`${base}/metrics`);
    expect([failed.status, await failed.json()]).toEqual([
      500,
      {
        error: {
          code: "500",
          message: "Something went wrong in the service. If it happens again, report its X-Request-Id to the operator.",
          reason: "INTERNAL",
        },
      },
    ]);
    expect(causes).toEqual([new Error("no numbers")]);
    expect((await fetch(`${base}/livez`)).status).toBe(200);
  } finally {
    await listener.close(0, 0);
  }
});

test("REST is not served on the internal listener [WIR-01, ISO-09]", async () => {
  const response = await fetch(`${service().internal}/v1/contacts?query=ann`, {
    headers: { Authorization: `Bearer ${owner.key}` },
  });
  expect([response.status, await response.json()]).toEqual([
    404,
    {
      error: {
        code: "404",
        message: "The path does not exist. Check it against the API reference.",
        reason: "UNKNOWN_PATH",
      },
    },
  ]);
});

test("the OpenAPI documents are public and have no internal key operations [OAS-02, ISO-09]", async () => {
  const { status, body } = await service().rest("/openapi.json");
  expect([status, body.info.version]).toEqual([200, "1.0.0"]);
  expect(Object.keys(body.paths as object).every((path) => path.startsWith("/v1/"))).toBe(true);
  expect(JSON.stringify(body)).not.toMatch(/records\.(admin|ingest)|service token/i);
  expect((await service().rest("/openapi.yaml")).status).toBe(200);
});

test("Connect, gRPC and gRPC-Web respond on the public port, over HTTP/1.1 and h2c [WIR-01, HLT-05]", async () => {
  const rpc = "/records.v1.HealthService/CheckHealth";
  const wires = [
    ["application/json", "{}"],
    ["application/proto", ""],
    ["application/grpc-web+proto", "\0\0\0\0\0"],
    ["application/grpc-web+json", "\0\0\0\0\x02{}"],
  ] as const;
  for (const [type, body] of wires) {
    const http1 = await fetch(service().base + rpc, { method: "POST", headers: { "Content-Type": type }, body });
    expect([http1.status, http1.headers.get("Content-Type")]).toEqual([200, type]);
    const http2 = await http2Call(
      service().base,
      { ":method": "POST", ":path": rpc, "content-type": type },
      Buffer.from(body, "latin1"),
    );
    expect([http2.status, http2.headers["content-type"]]).toEqual([200, type]);
    for (const text of [await http1.text(), http2.text]) expect(text).toContain("1.0.0");
  }
  const get = await fetch(`${service().base}${rpc}?encoding=json&connect=v1&message=%7B%7D`);
  expect([get.status, await get.json()]).toEqual([200, { health: { status: "HEALTH_STATUS_OK", version: "1.0.0" } }]);
  const grpc = await grpcCall(service().base, rpc.slice(1), Buffer.alloc(0));
  expect([grpc.status, grpc.headers["grpc-status"]]).toEqual([200, "0"]);
});
