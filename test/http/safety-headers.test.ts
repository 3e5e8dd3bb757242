// The security headers, on every surface and every status, also when the HTTP parser rejects a request.
import { afterAll, beforeAll, expect, test } from "vitest";
import { grpcCall } from "../fixtures/clients/http2-call.ts";
import type { TestAccount, TestService } from "../fixtures/service/service.ts";
import { startService } from "../fixtures/service/service.ts";
import { rejected } from "../fixtures/clients/malformed.ts";
import { exchange } from "../fixtures/clients/raw.ts";

let plain: TestService;
let secure: TestService;
let owner: TestAccount;

beforeAll(async () => {
  plain = await startService();
  secure = await plain.another({ BASE_URL: "https://records.example.com" });
  owner = await plain.account();
});
afterAll(async () => {
  await secure.stop();
  await plain.stop();
});

const year = "max-age=31536000";
const search = "records.v1.ContactService/SearchContacts";
const query = Buffer.from("\x0a\x03ann");

/** Requests to every surface of the public listener. */
const surfaces: readonly (readonly [method: string, path: string, type: string | undefined])[] = [
  ["GET", "/v1/health", undefined],
  ["GET", "/v1/contacts?query=ann", undefined],
  ["GET", "/v1/nothing", undefined],
  ["OPTIONS", "/v1/contacts", undefined],
  ["POST", "/v1/health", "application/json"],
  ["POST", "/v1/contacts", "application/json"],
  ["POST", "/v1/contacts", "text/plain"],
  ["POST", `/${search}`, "application/json"],
  ["POST", `/${search}`, "application/grpc-web+proto"],
  ["POST", `/${search}`, "text/plain"],
  ["GET", `/${search}`, undefined],
  ["GET", "/openapi.json", undefined],
  ["HEAD", "/openapi.yaml", undefined],
  ["POST", "/openapi.json", "text/plain"],
  ["GET", "/llms.txt", undefined],
  ["GET", "/docs", undefined],
  ["GET", "/docs/nothing", undefined],
  ["GET", "/guide", undefined],
  ["GET", "/guide/nothing", undefined],
  ["GET", "/", undefined],
  ["POST", "/mcp", "application/json"],
  ["GET", "/mcp", undefined],
  ["GET", "/.well-known/oauth-protected-resource", undefined],
  ["GET", "/nothing", undefined],
];

test.each(surfaces)(
  "%s %s (%s) has nosniff, and Strict-Transport-Security if the base URL is https [HDR-01, HDR-02]",
  async (method, path, type) => {
    for (const key of [undefined, owner.key]) {
      const headers = { ...(type && { "Content-Type": type }), ...(key && { Authorization: `Bearer ${key}` }) };
      const send = (base: string): Promise<Response> =>
        fetch(base + path, { method, headers, redirect: "manual", ...(type && { body: "{}" }) });
      const [here, there] = await Promise.all([send(plain.base), send(secure.base)]);
      expect([here.headers.get("X-Content-Type-Options"), here.headers.get("Strict-Transport-Security")]).toEqual([
        "nosniff",
        null,
      ]);
      expect([there.headers.get("X-Content-Type-Options"), there.headers.get("Strict-Transport-Security")]).toEqual([
        "nosniff",
        year,
      ]);
    }
  },
);

test("gRPC over HTTP/2 has nosniff and Strict-Transport-Security, with a key and without [HDR-01, HDR-02]", async () => {
  for (const authorization of [`Bearer ${owner.key}`, "Bearer rec_wrong"]) {
    const { headers } = await grpcCall(secure.base, search, query, { authorization });
    expect(headers).toMatchObject({ "x-content-type-options": "nosniff", "strict-transport-security": year });
  }
});

test.each(rejected)(
  "%s, rejected with %i, has nosniff and Strict-Transport-Security [HDR-01, HDR-02]",
  async (_, status, message) => {
    const { responses } = await exchange(
      secure.base,
      typeof message === "string" ? message.replaceAll("{key}", owner.key) : message,
    );
    const [first] = responses;
    expect([
      first?.status,
      first?.headers.get("x-content-type-options"),
      first?.headers.get("strict-transport-security"),
    ]).toEqual([status, "nosniff", year]);
  },
);

test.each(["/livez", "/readyz", "/metrics", "/nothing", `/${search}`])(
  "%s on the internal listener has nosniff only [HDR-01]",
  async (path) => {
    for (const method of ["GET", "POST"]) {
      const { headers } = await fetch(secure.internal + path, { method });
      expect([headers.get("X-Content-Type-Options"), headers.get("Strict-Transport-Security")]).toEqual([
        "nosniff",
        null,
      ]);
    }
  },
);

test.each(rejected.filter(([, status]) => status !== 417))(
  "%s, rejected with %i on the internal listener, has nosniff [HDR-01]",
  async (_, status, message) => {
    const { responses } = await exchange(secure.internal, message);
    expect([responses[0]?.status, responses[0]?.headers.get("x-content-type-options")]).toEqual([status, "nosniff"]);
  },
);
