// A request is one tree of spans, over REST, gRPC and MCP alike, down to MongoDB and Redis; and nothing of its content
// is in them.
import { createServer } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { exportJWK } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../../src/embedded/wait.ts";
import { ContactService } from "../../src/gen/records/v1/contacts_pb.ts";
import { accessToken } from "../fixtures/sign-in/assistants.ts";
import type { FakeProvider } from "../fixtures/sign-in/fake-provider.ts";
import { json, startFakeProvider } from "../fixtures/sign-in/fake-provider.ts";
import { newOwner } from "../fixtures/sign-in/fixture.ts";
import { secretsIn } from "../fixtures/service/secrets.ts";
import type { TestAccount, TestService } from "../fixtures/service/service.ts";
import { startService } from "../fixtures/service/service.ts";
import type { Collector, ReceivedSpan } from "./collector.ts";
import { startCollector } from "./collector.ts";
import { lineOf } from "./request-lines.ts";

let collector: Collector;
let fake: FakeProvider;
let service: TestService;
let owner: TestAccount;
let token: string;

const collectorSecret = "collector-credential-7f3a91c2";
const marker = "Zebrafinch";

beforeAll(async () => {
  collector = await startCollector();
  fake = await startFakeProvider();
  service = await startService({
    ...fake.settings(),
    OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
    OTEL_EXPORTER_OTLP_HEADERS: `x-collector-key=${collectorSecret}`,
    OTEL_SERVICE_NAME: "records-under-test",
  });
  owner = await service.account();
  await newOwner(service, fake.issuer, "dora", "dora@example.com");
  token = await accessToken(fake, { sub: "dora", email: "dora@example.com" });
});
afterAll(async () => {
  await service.stop();
  await fake.stop();
  await collector.stop();
});

let traces = 0;

/** A caller's trace of its own: the header, and the spans that belong to it once the server's has arrived. */
function newTrace(sampled = true): {
  readonly traceId: string;
  readonly spanId: string;
  readonly headers: Record<string, string>;
  spans(): Promise<ReceivedSpan[]>;
} {
  const traceId = (++traces).toString(16).padStart(32, "a");
  const spanId = traces.toString(16).padStart(16, "b");
  const here = (): ReceivedSpan[] => collector.spans.filter((span) => span.traceId === traceId);
  return {
    traceId,
    spanId,
    headers: { traceparent: `00-${traceId}-${spanId}-0${sampled ? 1 : 0}` },
    async spans() {
      await until(() => Promise.resolve(here().some(({ kind }) => kind === 2)), AbortSignal.timeout(10_000));
      return here();
    },
  };
}

/** Checks that the spans are one tree: the caller's span, the request's under it, the commands under that. */
function expectTree(spans: readonly ReceivedSpan[], callerSpanId: string, name: string): ReceivedSpan {
  const [server, ...more] = spans.filter(({ kind }) => kind === 2);
  expect(more).toEqual([]);
  expect(server).toMatchObject({ name, parentId: callerSpanId });
  const commands = spans.filter(({ kind }) => kind === 3);
  expect(commands.length + 1).toBe(spans.length);
  for (const { parentId } of commands) expect(parentId).toBe(server?.spanId);
  expect(commands.map(({ attributes }) => attributes["db.system.name"])).toEqual(
    expect.arrayContaining(["mongodb", "redis"]),
  );
  for (const { attributes } of commands)
    expect(attributes).toMatchObject({ "server.address": expect.any(String), "server.port": expect.any(Number) });
  return server as ReceivedSpan;
}

/** They wait for exports at the same time, each for those of its own traces. */
test.concurrent("an unavailable collector costs one line of the log, and no request", async () => {
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
  const { port } = closed.address() as { port: number };
  await new Promise((resolve) => closed.close(resolve));
  const lonely = await service.another({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
  expect((await lonely.rest("/v1/contacts?query=ann", { key: owner.key })).status).toBe(200);
  await until(
    () => Promise.resolve(lonely.logLines.some((line) => line.includes("trace collector cannot be reached"))),
    AbortSignal.timeout(15_000),
  );
  expect((await lonely.rest("/v1/contacts?query=ann", { key: owner.key })).status).toBe(200);
  await lonely.stop();
});

test.concurrent("a REST request is one tree: the caller's span, the server's, and those of MongoDB and Redis", async () => {
  const trace = newTrace();
  await service.rest(`/v1/contacts?query=${marker}`, {
    key: owner.key,
    headers: { ...trace.headers, "X-Request-Id": "traced-rest" },
  });
  const spans = await trace.spans();
  const server = expectTree(spans, trace.spanId, "GET /v1/contacts");
  expect(server.attributes).toEqual({
    "http.request.method": "GET",
    "http.route": "/v1/contacts",
    "http.response.status_code": 200,
    "network.protocol.name": "http",
    "network.protocol.version": "1.1",
    "url.scheme": "http",
    "records.wire": "rest",
  });
  const search = spans.find(
    ({ attributes }) =>
      attributes["db.operation.name"] === "aggregate" && attributes["db.collection.name"] === "contacts",
  );
  expect(search?.name).toBe("aggregate contacts");
  expect(await lineOf("traced-rest", service)).toMatchObject({ trace_id: trace.traceId, route: "/v1/contacts" });
  expect(collector.resource()).toMatchObject({
    "service.name": "records-under-test",
    "service.version": expect.stringMatching(/^\d+\.\d+\.\d+/),
  });
  expect(collector.exports.at(-1)).toMatchObject({
    path: "/v1/traces",
    headers: { "x-collector-key": collectorSecret },
  });
});

test.concurrent("a gRPC call has the same tree, with the name of its rpc and its own code if it fails", async () => {
  const client = createClient(ContactService, createGrpcTransport({ baseUrl: service.base }));
  const trace = newTrace();
  await client.searchContacts(
    { query: marker },
    { headers: { ...trace.headers, authorization: `Bearer ${owner.key}` } },
  );
  const server = expectTree(await trace.spans(), trace.spanId, "records.v1.ContactService/SearchContacts");
  expect(server.attributes).toMatchObject({
    "rpc.system.name": "grpc",
    "rpc.method": "records.v1.ContactService/SearchContacts",
    "rpc.response.status_code": "ok",
    "network.protocol.version": "2",
  });

  const failing = newTrace();
  await client
    .getContact(
      { contactId: owner.id },
      { headers: { ...failing.headers, authorization: `Bearer ${owner.key}`, "x-request-id": "traced-grpc" } },
    )
    .catch(() => undefined);
  expect((await failing.spans()).find(({ kind }) => kind === 2)?.attributes["rpc.response.status_code"]).toBe(
    "not_found",
  );
  expect(await lineOf("traced-grpc", service)).toMatchObject({
    wire: "grpc",
    status: 200,
    code: "not_found",
    account: owner.id,
    key: owner.key.slice(0, 8),
    trace_id: failing.traceId,
  });
});

test.concurrent("a tool call of an assistant has the same tree, with its requests to the identity provider", async () => {
  const received: IncomingHttpHeaders[] = [];
  const jwk = { ...(await exportJWK(fake.key.publicKey)), kid: fake.key.kid, alg: "RS256", use: "sig" };
  fake.responses.set(new URL(String(fake.metadata["jwks_uri"])).pathname, (request, response) => {
    received.push(request.headers);
    json({ keys: [jwk] })(request, response);
  });
  const trace = newTrace();
  const response = await fetch(`${service.base}/mcp`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": "2025-06-18",
      Authorization: `Bearer ${token}`,
      "X-Request-Id": "traced-mcp",
      ...trace.headers,
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "search_contacts", arguments: { query: marker } },
    }),
  });
  expect(await response.text()).toContain("structuredContent");
  const server = expectTree(await trace.spans(), trace.spanId, "POST /mcp");
  expect(server.attributes).toMatchObject({
    "mcp.method.name": "tools/call",
    "gen_ai.tool.name": "search_contacts",
    "records.wire": "mcp",
  });
  expect(await lineOf("traced-mcp", service)).toMatchObject({
    wire: "mcp",
    mcp_method: "tools/call",
    tools: "search_contacts",
    account: expect.any(String),
  });
  expect(received).toHaveLength(1);
  expect(received[0]).toMatchObject({
    traceparent: `00-${trace.traceId}-${server.spanId}-01`,
    "x-request-id": "traced-mcp",
  });
});

test.concurrent("does not record what the caller does not record, but logs its trace id", async () => {
  const trace = newTrace(false);
  await service.rest("/v1/contacts?query=ann", {
    key: owner.key,
    headers: { ...trace.headers, "X-Request-Id": "unsampled" },
  });
  expect(await lineOf("unsampled", service)).toMatchObject({ trace_id: trace.traceId });
  const after = newTrace();
  await service.rest("/v1/contacts?query=ann", { key: owner.key, headers: after.headers });
  await after.spans();
  expect(collector.spans.filter(({ traceId }) => traceId === trace.traceId)).toEqual([]);
});

test.concurrent("an invalid traceparent starts a trace of our own", async () => {
  await service.rest("/v1/contacts?query=ann", {
    key: owner.key,
    headers: { traceparent: `00-${"0".repeat(32)}-${"b".repeat(16)}-01`, "X-Request-Id": "own-trace" },
  });
  const { trace_id: traceId } = await lineOf("own-trace", service);
  expect(traceId).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
  await until(
    () => Promise.resolve(collector.spans.some((span) => span.traceId === traceId && span.kind === 2)),
    AbortSignal.timeout(10_000),
  );
  expect(collector.spans.find((span) => span.traceId === traceId && span.kind === 2)?.parentId).toBe("");
});

/** After the others, so that their spans are among what it checks. */
test("the collector gets nothing that a caller sent and no credential", async () => {
  const trace = newTrace();
  const { body } = await service.rest("/v1/contacts", {
    key: owner.key,
    body: { full_name: `${marker} One`, email: `${marker}@example.com` },
    headers: { ...trace.headers, "Idempotency-Key": `${marker}-1` },
  });
  const { id } = body.data as { id: string };
  const last = newTrace();
  await service.rest(`/v1/contacts/${id}?x=${marker}`, { key: owner.key, headers: last.headers });
  await service.rest(`/v1/${marker}`, { key: owner.key });
  expectTree(await trace.spans(), trace.spanId, "POST /v1/contacts");
  await last.spans();
  const text = collector.text();
  for (const secret of [marker, marker.toLowerCase(), id, owner.id, owner.key, token, collectorSecret])
    expect(text.includes(secret), secret).toBe(false);
  expect(secretsIn(text)).toEqual([]);
  expect(service.logLines.join("").includes(collectorSecret)).toBe(false);
  expect(text).toContain("/v1/contacts/{contact_id}");
});
