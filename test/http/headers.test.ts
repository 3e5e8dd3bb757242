// The headers that every response has, whatever its status and its wire: request id, limits, retirement, CORS.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../../src/embedded/wait.ts";
import { grpcCall } from "../fixtures/clients/http2-call.ts";
import type { RestResponse, TestAccount, TestService } from "../fixtures/service/service.ts";
import { startService } from "../fixtures/service/service.ts";

let service: TestService;
let retired: TestService;
let owner: TestAccount;
let reader: TestAccount;
let contact: string;

beforeAll(async () => {
  service = await startService({ RATE_LIMIT: "10", CORS_ORIGINS: "https://app.example.com,http://localhost:3000" });
  retired = await service.another({
    CORS_ORIGINS: "",
    V1_DEPRECATED_AT: "2026-01-31T01:00:00+01:00",
    V1_SUNSET_AT: "2026-12-31T23:59:59.999Z",
  });
  [owner, reader] = await Promise.all([service.account(), service.account("read_only")]);
  contact = (await service.rest("/v1/contacts", { key: owner.key, body: { full_name: "Ann" } })).body.data.id;
});
afterAll(async () => {
  await retired.stop();
  await service.stop();
});

/** One response of every status that a caller can bring about, by its status. */
async function responsesOf(instance: TestService): Promise<readonly RestResponse[]> {
  const { key } = owner;
  const responses = await Promise.all([
    instance.rest("/v1/health"),
    instance.rest("/v1/sessions", { key }),
    instance.rest("/v1/contacts", { key, body: { full_name: "Ann" } }),
    instance.rest("/v1/contacts", { method: "OPTIONS" }),
    instance.rest("/v1/sessions"),
    instance.rest("/v1/contacts", { key: reader.key, body: { full_name: "Ann" } }),
    instance.rest("/v1/nothing"),
    instance.rest("/v1"),
    instance.rest(`/v1/contacts/${randomUUID()}`, { key }),
    instance.rest("/v1/health", { method: "POST", body: {} }),
    instance.rest("/v1/contacts", { key, body: { full_name: "" } }),
    instance.rest("/v1/contacts", { key, raw: "x".repeat(300_000) }),
    instance.rest(`/v1/contacts/${contact}`, { key, method: "HEAD" }),
  ]);
  expect(responses.map(({ status }) => status)).toEqual([
    200, 200, 201, 204, 401, 403, 404, 404, 404, 405, 422, 422, 200,
  ]);
  return responses;
}

test("every response under /v1, of any status, has both RateLimit headers, never the two others, and an id [RTE-05, RTE-06, FMT-06]", async () => {
  const ids = new Set<string>();
  for (const { headers } of await responsesOf(service)) {
    expect(headers.get("RateLimit-Limit")).toBe("10");
    expect(headers.get("RateLimit-Policy")).toBe("10;w=1");
    for (const name of [
      "RateLimit-Remaining",
      "RateLimit-Reset",
      "Retry-After",
      "Deprecation",
      "Sunset",
      "X-Powered-By",
      "Server",
    ])
      expect(headers.has(name), name).toBe(false);
    ids.add(headers.get("X-Request-Id") ?? "");
  }
  expect(ids.size).toBe(13);
});

test("JSON responses, also errors, are application/json; charset=utf-8 and are not stored [FMT-01]", async () => {
  for (const { status, headers } of await responsesOf(service)) {
    if (status !== 204) expect(headers.get("Content-Type")).toBe("application/json; charset=utf-8");
    expect(headers.get("Cache-Control")).toBe("no-store");
  }
});

test("with both instants set every response under /v1, also an error, has Deprecation and Sunset [VER-03, VER-04]", async () => {
  for (const { headers } of await responsesOf(retired)) {
    expect(headers.get("Deprecation")).toBe("@1769817600");
    expect(headers.get("Sunset")).toBe("Thu, 31 Dec 2026 23:59:59 GMT");
  }
  const document = await retired.rest("/openapi.json");
  expect([document.status, document.headers.has("Deprecation")]).toEqual([200, false]);
});

test.each([
  ["connect", "application/json", "{}"],
  ["connect", "application/json", '{"query":"ann"}'],
  ["grpc-web", "application/grpc-web+proto", "\0\0\0\0\x05\x0a\x03ann"],
])(
  "public responses over %s have the limits and an id, also rejections: %s %j [RTE-07, RTE-06, FMT-06]",
  async (_, type, body) => {
    for (const key of [owner.key, "rec_wrong"]) {
      const response = await fetch(`${service.base}/records.v1.ContactService/SearchContacts`, {
        method: "POST",
        headers: { "Content-Type": type, Authorization: `Bearer ${key}`, "X-Request-Id": "rpc-1" },
        body,
      });
      expect(response.headers.get("RateLimit-Limit")).toBe("10");
      expect(response.headers.get("RateLimit-Policy")).toBe("10;w=1");
      expect(response.headers.get("X-Request-Id")).toBe("rpc-1");
      for (const name of ["RateLimit-Remaining", "RateLimit-Reset", "Retry-After"])
        expect(response.headers.has(name)).toBe(false);
    }
  },
);

test("public responses over gRPC have the limits and an id, also rejections [RTE-07, RTE-06, FMT-06]", async () => {
  for (const [key, code] of [
    [owner.key, "0"],
    ["rec_wrong", "16"],
  ] as const) {
    const { status, headers } = await grpcCall(
      service.base,
      "records.v1.ContactService/SearchContacts",
      Buffer.from("\x0a\x03ann"),
      { authorization: `Bearer ${key}`, "x-request-id": "rpc-2" },
    );
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      "grpc-status": code,
      "ratelimit-limit": "10",
      "ratelimit-policy": "10;w=1",
      "x-request-id": "rpc-2",
    });
    for (const name of ["ratelimit-remaining", "ratelimit-reset", "retry-after"]) expect(headers[name]).toBeUndefined();
  }
});

test("gRPC responses for an unknown rpc have the limits and an id [RTE-07]", async () => {
  for (const rpc of ["grpc.health.v1.Health/Check", "other.Service/Call"]) {
    const { headers } = await grpcCall(service.base, rpc, Buffer.alloc(0));
    expect([headers["grpc-status"], headers["ratelimit-limit"], headers["ratelimit-policy"]]).toEqual([
      "12",
      "10",
      "10;w=1",
    ]);
  }
  for (const path of ["/mcp", "/openapi.json"]) {
    const { headers } = await service.rest(path, { headers: { "Content-Type": "application/grpc" } });
    expect([path, headers.get("ratelimit-limit")]).toEqual([path, null]);
  }
});

test.each(["a", "A.b_c-9", "0".repeat(128), "...", "550e8400-e29b-41d4-a716-446655440000"])(
  "returns the caller's X-Request-Id, and logs it: %s [FMT-07, FMT-06]",
  async (id) => {
    for (const [path, status] of [
      ["/v1/health", 200],
      ["/v1/nothing", 404],
      ["/nothing", 404],
      ["/openapi.json", 200],
    ] as const) {
      const before = service.logLines.length;
      const response = await service.rest(path, { headers: { "X-Request-Id": id } });
      expect([response.status, response.headers.get("X-Request-Id")]).toEqual([status, id]);
      expect(await logged(before, id)).toMatchObject([{ id, status, method: "GET", listener: "public" }]);
    }
    expect(
      (await fetch(`${service.internal}/livez`, { headers: { "X-Request-Id": id } })).headers.get("X-Request-Id"),
    ).toBe(id);
  },
);

test.each(["0".repeat(129), "a b", "ä", "a/b", "{}", "<script>", "a,b", "a:b"])(
  "replaces an X-Request-Id of another form: %s [FMT-07]",
  async (id) => {
    const response = await service.rest("/v1/health", { headers: { "X-Request-Id": id } });
    expect(response.headers.get("X-Request-Id")).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(service.logLines.some((line) => line.includes(id))).toBe(false);
  },
);

test("two requests without an id get two different ids, and the log has each of them once [FMT-06]", async () => {
  const before = service.logLines.length;
  const ids = (await Promise.all([service.rest("/v1/health"), service.rest("/v1/health")])).map(
    ({ headers }) => headers.get("X-Request-Id") ?? "",
  );
  expect(ids[0]).not.toBe(ids[1]);
  for (const id of ids) expect(await logged(before, id)).toHaveLength(1);
});

test("HEAD responds like GET, without a body [FMT-08]", async () => {
  for (const [path, key] of [
    ["/v1/health", undefined],
    [`/v1/contacts/${contact}`, owner.key],
    ["/v1/contacts?query=ann", owner.key],
    ["/v1/sessions", undefined],
    ["/v1/contacts?query=a", owner.key],
    ["/v1/nothing", undefined],
  ] as const) {
    const [get, head] = await Promise.all([service.rest(path, { key }), service.rest(path, { key, method: "HEAD" })]);
    expect(head.text).toBe("");
    expect(head.status).toBe(get.status);
    for (const name of ["Content-Type", "Content-Length", "Cache-Control", "RateLimit-Limit", "WWW-Authenticate"])
      expect(head.headers.get(name), `${path} ${name}`).toBe(get.headers.get(name));
  }
});

test.each([
  ["/v1/health", "GET, HEAD, OPTIONS"],
  ["/v1/contacts", "GET, HEAD, POST, OPTIONS"],
  ["/v1/contacts/8c0f6f0e-8f0d-4b43-9d0e-7f1f2f3f4f5f", "GET, HEAD, PATCH, OPTIONS"],
  ["/v1/contacts/8c0f6f0e-8f0d-4b43-9d0e-7f1f2f3f4f5f/notes", "POST, OPTIONS"],
  ["/v1/sessions", "GET, HEAD, OPTIONS"],
  ["/v1/sessions/8c0f6f0e-8f0d-4b43-9d0e-7f1f2f3f4f5f", "GET, HEAD, OPTIONS"],
  ["/v1/sessions/8c0f6f0e-8f0d-4b43-9d0e-7f1f2f3f4f5f/transcript", "GET, HEAD, OPTIONS"],
  ["/v1/notes", "GET, HEAD, OPTIONS"],
  ["/v1/contacts/no-uuid", "GET, HEAD, PATCH, OPTIONS"],
])(
  "OPTIONS %s is 204 with Allow, without a key; another method is 405 with the same Allow [FMT-09, ERR-06]",
  async (path, allow) => {
    const options = await service.rest(path, { method: "OPTIONS" });
    expect([options.status, options.text, sorted(options.headers.get("Allow"))]).toEqual([204, "", sorted(allow)]);
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"].filter((one) => !allow.split(", ").includes(one))) {
      const { status, headers, text } = await service.rest(path, { method });
      expect([status, sorted(headers.get("Allow")), text]).toEqual([
        405,
        sorted(allow),
        '{"error":{"code":"405","message":"The path does not support this method. Use one of its methods.","reason":"METHOD_NOT_ALLOWED"}}',
      ]);
    }
  },
);

test("OPTIONS on an unknown path is 404 [FMT-09, ERR-05]", async () => {
  expect((await service.rest("/v1/nothing", { method: "OPTIONS" })).status).toBe(404);
});

test("allows an origin in CORS_ORIGINS, in the preflight and in the response, and lists the headers that it may read [FMT-10]", async () => {
  for (const origin of ["https://app.example.com", "http://localhost:3000"]) {
    const preflight = await service.rest("/v1/contacts", {
      method: "OPTIONS",
      headers: {
        Origin: origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type,idempotency-key,traceparent,tracestate,baggage",
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("Access-Control-Allow-Origin")).toBe(origin);
    expect(list(preflight, "Access-Control-Allow-Methods")).toEqual(expect.arrayContaining(["get", "post", "patch"]));
    // The wildcard covers what tools of a page add, such as `sentry-trace`, but not `Authorization`.
    const wanted = "authorization content-type idempotency-key traceparent tracestate baggage *".split(" ");
    expect(list(preflight, "Access-Control-Allow-Headers")).toEqual(expect.arrayContaining(wanted));
    for (const response of [
      await service.rest("/v1/health", { headers: { Origin: origin } }),
      await service.rest("/v1/sessions", { headers: { Origin: origin } }),
    ]) {
      expect(response.headers.get("Access-Control-Allow-Origin")).toBe(origin);
      expect(response.headers.get("Vary")).toMatch(/\bOrigin\b/);
      expect(list(response, "Access-Control-Expose-Headers")).toEqual(
        expect.arrayContaining(["ratelimit-limit", "ratelimit-policy", "retry-after", "x-request-id", "location"]),
      );
      expect(response.headers.has("Access-Control-Allow-Credentials")).toBe(false);
    }
  }
});

test.each([
  "https://evil.example",
  "https://app.example.com.evil.example",
  "http://app.example.com",
  "https://app.example.com:8443",
  "null",
])("the origin %s gets no CORS headers [FMT-10]", async (origin) => {
  for (const method of ["OPTIONS", "GET"]) {
    const { headers } = await service.rest("/v1/contacts", {
      method,
      headers: { Origin: origin, "Access-Control-Request-Method": "GET" },
    });
    expect([...headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
  }
});

test("without CORS_ORIGINS no origin gets CORS headers [FMT-10]", async () => {
  const { status, headers } = await retired.rest("/v1/contacts", {
    method: "OPTIONS",
    headers: { Origin: "https://app.example.com" },
  });
  expect([status, [...headers.keys()].filter((name) => name.startsWith("access-control-"))]).toEqual([204, []]);
});

function sorted(value: string | null): string[] {
  return (value ?? "").split(", ").sort();
}

function list({ headers }: RestResponse, name: string): string[] {
  return (headers.get(name) ?? "").toLowerCase().split(/, */);
}

/** The log's lines with the id; a line is written when its request is over, a moment after its response is here. */
async function logged(since: number, id: string): Promise<unknown[]> {
  const lines = (): unknown[] =>
    service.logLines
      .slice(since)
      .map((line) => JSON.parse(line) as { id?: string })
      .filter((line) => line.id === id);
  await until(() => Promise.resolve(lines().length > 0), AbortSignal.timeout(5_000));
  return lines();
}
