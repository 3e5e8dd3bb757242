// The 401 of /mcp in every form, and what comes before and after it: 429, 503, 401, 403, 405.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newOwner } from "../../fixtures/sign-in/fixture.ts";
import type { RestResponse } from "../../fixtures/service/service.ts";
import { rest } from "../../fixtures/service/service.ts";
import { accessToken, expectChallenge, send } from "../../fixtures/sign-in/assistants.ts";
import { useFakeProvider } from "../../support/at-fake-provider.ts";

const { fake, service, base } = useFakeProvider({
  environment: { CORS_ORIGINS: "https://assistant.example,https://other-assistant.example" },
});

let token: string;

beforeAll(async () => {
  await newOwner(service(), fake().issuer, "person-dora", "dora@example.com");
  token = await accessToken(fake());
});

const switchInterface = (enabled: boolean): Promise<RestResponse> =>
  service().internalCall("records.admin.v1.InterfaceService/SetPublicInterface", { enabled, reason: "test" });
const sendRequest = (method: string, headers: Record<string, string> = {}, path = "/mcp"): Promise<RestResponse> =>
  rest(base(), path, { method, headers, ...(method === "POST" || method === "PUT" ? { raw: "{}" } : {}) });

const none = "The access token is missing. Sign in, and send the token as Authorization: Bearer <ACCESS_TOKEN>.";
const malformed = "The access token is not valid: it is malformed. Sign in again.";
const unknown =
  "The access token is not valid: it is malformed or unknown. Sign in again. If that does not help, the operator must configure the identity provider to issue JWTs, because it offers no introspection.";
const without: readonly (readonly [string, Record<string, string>, string])[] = [
  ["no token", {}, none],
  ["an empty header", { Authorization: "" }, none],
  ["Bearer and nothing", { Authorization: "Bearer" }, none],
  ["Bearer and blanks", { Authorization: "Bearer   " }, none],
  ["Basic", { Authorization: "Basic cmVjb3JkczpyZWNvcmRz" }, none],
  ["DPoP", { Authorization: "DPoP abc" }, none],
  ["two tokens", { Authorization: "Bearer abc def" }, none],
  ["an API key", { Authorization: `Bearer rec_${"a".repeat(49)}` }, malformed.replace("malformed", "an API key")],
  ["garbage", { Authorization: "Bearer garbage" }, unknown],
  ["quotes and a backslash", { Authorization: 'Bearer a"b\\c' }, malformed],
  ["letters of Latin-1", { Authorization: "Bearer t\u00f6ken" }, malformed],
  ["a list", { Authorization: "Bearer abc,def" }, malformed],
];

describe.each(["GET", "POST", "DELETE", "PUT", "HEAD", "PATCH"])("the method %s", (method) => {
  test.each(without)(
    "with %s is 401 with the challenge and the reason, in the envelope [OAU-01, MCP-04]",
    async (_name, headers, why) => {
      const response = await sendRequest(method, headers);
      expectChallenge(response, base(), new RegExp(`^${why.replace(/[.\\]/g, "\\$&")}$`), method === "HEAD");
      expect(response.text).not.toMatch(/<html|<!doctype/i);
    },
  );
});

test("ignores a token in the address or in a form [OAU-01]", async () => {
  expectChallenge(await sendRequest("POST", {}, `/mcp?access_token=${token}`), base(), /^The access token is missing/);
  const form = await rest(base(), "/mcp", {
    raw: `access_token=${token}`,
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
  });
  expectChallenge(form, base(), /^The access token is missing/);
});

test("accepts the scheme in any case, and returns the request's own id with the 401 [OAU-01]", async () => {
  expect((await send(base(), `bEaReR ${token}`)).status).toBe(200);
  expect((await sendRequest("GET", { "X-Request-Id": "my.request-1" })).headers.get("x-request-id")).toBe(
    "my.request-1",
  );
});

test("with a token every method except POST is 405 with Allow, in the envelope, never 200 [MCP-04, MCP-13]", async () => {
  for (const method of ["GET", "HEAD", "DELETE", "PUT", "PATCH"]) {
    const { status, headers, text } = await sendRequest(method, {
      Authorization: `Bearer ${token}`,
      Accept: "text/event-stream, text/html",
    });
    expect([
      method,
      status,
      headers.get("allow"),
      headers.get("content-type"),
      headers.get("ratelimit-limit"),
      headers.get("www-authenticate"),
    ]).toEqual([method, 405, "POST, OPTIONS", "application/json; charset=utf-8", null, null]);
    if (method !== "HEAD")
      expect(JSON.parse(text)).toEqual({
        jsonrpc: "2.0",
        id: null,
        error: {
          code: "405",
          message: "The path does not support this method. Use one of its methods.",
          reason: "METHOD_NOT_ALLOWED",
        },
      });
  }
});

test("OPTIONS is 204 with Allow, without a token, with CORS for the allowed origins [MCP-05]", async () => {
  const plain = await sendRequest("OPTIONS");
  expect([
    plain.status,
    plain.headers.get("allow"),
    plain.headers.get("access-control-allow-origin"),
    plain.text,
  ]).toEqual([204, "POST, OPTIONS", null, ""]);
  const { status, headers } = await sendRequest("OPTIONS", {
    Origin: "https://assistant.example",
    "Access-Control-Request-Method": "POST",
  });
  expect([status, headers.get("access-control-allow-origin")]).toEqual([204, "https://assistant.example"]);
  expect(headers.get("access-control-allow-methods")).toContain("POST");
  for (const name of ["Authorization", "Content-Type", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name"])
    expect(headers.get("access-control-allow-headers")).toContain(name);
  const foreign = await sendRequest("OPTIONS", {
    Origin: "https://evil.example",
    "Access-Control-Request-Method": "POST",
  });
  expect([foreign.status, foreign.headers.get("access-control-allow-origin")]).toEqual([204, null]);
});

test("accepts our own origin, those of CORS_ORIGINS, and a request without an origin [MCP-05]", async () => {
  for (const origin of [base(), "https://assistant.example", "https://other-assistant.example"]) {
    const { status, headers } = await send(base(), `Bearer ${token}`, undefined, { Origin: origin });
    expect([origin, status]).toEqual([origin, 200]);
    if (origin !== base()) expect(headers.get("access-control-expose-headers")).toContain("WWW-Authenticate");
  }
  expect((await send(base(), `Bearer ${token}`)).status).toBe(200);
});

test("any other origin is 403 with a valid token, and 401 without, which a page can read only if its origin is allowed [MCP-05]", async () => {
  const port = new URL(base()).port;
  for (const origin of [
    "https://evil.example",
    "null",
    `http://127.0.0.1:${port}`,
    `https://localhost:${port}`,
    "http://localhost:1",
    `${base()}.evil.example`,
    "https://assistant.example.evil",
    "https://assistant.example/",
    "",
  ]) {
    const { status, text, headers } = await send(base(), `Bearer ${token}`, undefined, { Origin: origin });
    expect([origin, status, headers.get("access-control-allow-origin")]).toEqual([origin, 403, null]);
    expect(JSON.parse(text)).toEqual({
      jsonrpc: "2.0",
      id: null,
      error: {
        code: "403",
        message: "Origin: must be one that the operator allows (CORS_ORIGINS).",
        reason: "FOREIGN_ORIGIN",
      },
    });
    expectChallenge(await send(base(), undefined, undefined, { Origin: origin }), base());
  }
});

test("serves only the exact path: all similar ones are 404 in the envelope, with and without a token [MCP-01]", async () => {
  for (const path of [
    "/mcp/",
    "/mcp/x",
    "/MCP",
    "//mcp",
    "/mcp%2F",
    "/Mcp",
    "/mcp.json",
    "/m%63p",
    "/mcp/.well-known/oauth-protected-resource",
    "/sse",
  ]) {
    for (const headers of [{}, { Authorization: `Bearer ${token}` }]) {
      const { status, text } = await sendRequest("POST", headers, path);
      expect([path, status, JSON.parse(text).error.code]).toEqual([path, 404, "404"]);
    }
  }
});

describe("while the interface is disabled", () => {
  beforeAll(async () => void (await switchInterface(false)));
  afterAll(async () => void (await switchInterface(true)));

  test("every request is 503 before its token is checked, whatever the token, the method and the origin [MCP-13, ERR-14]", async () => {
    fake().requestedPaths.length = 0;
    for (const authorization of [
      undefined,
      `Bearer ${token}`,
      `Bearer ${await accessToken(fake(), { jti: "another" })}`,
      "Bearer garbage",
    ]) {
      for (const method of ["GET", "POST", "DELETE"]) {
        const { status, headers, text } = await sendRequest(method, {
          ...(authorization === undefined ? {} : { Authorization: authorization }),
          Origin: "https://evil.example",
        });
        expect([status, headers.get("www-authenticate"), headers.get("retry-after")]).toEqual([503, null, null]);
        expect(JSON.parse(text)).toEqual({
          jsonrpc: "2.0",
          id: null,
          error: {
            code: "503",
            message: "The public interface is temporarily disabled. Try again later.",
            reason: "INTERFACE_DISABLED",
          },
        });
      }
    }
    expect(fake().requestedPaths).toEqual([]);
  });
});

test("429 precedes 503, and 503 precedes 401 and 405 [MCP-13]", async () => {
  await switchInterface(false);
  const tight = await service().another({ RATE_LIMIT: "1", RATE_BURST: "1", TRUST_PROXY: "1" });
  try {
    const from = { "X-Forwarded-For": "203.0.113.7" };
    const statuses = await Promise.all(
      Array.from({ length: 6 }, async () => (await rest(tight.base, "/mcp", { headers: from })).status),
    );
    expect(new Set(statuses)).toEqual(new Set([503, 429]));
    const fresh = { "X-Forwarded-For": "203.0.113.8" };
    expect((await rest(tight.base, "/mcp", { headers: { ...fresh, Authorization: `Bearer ${token}` } })).status).toBe(
      503,
    );
  } finally {
    await tight.stop();
    await switchInterface(true);
  }
});

test("if sign-in is off, /mcp and the documents are 503 with the reason; the other paths continue [MCP-13]", async () => {
  const off = await service().another({ OIDC_ISSUER: "" });
  try {
    for (const path of [
      "/mcp",
      "/.well-known/oauth-protected-resource",
      "/.well-known/oauth-protected-resource/mcp",
      "/.well-known/oauth-authorization-server",
    ]) {
      for (const headers of [{}, { Authorization: `Bearer ${token}` }]) {
        const { status, body } = await rest(off.base, path, { headers });
        expect([path, status, body]).toEqual([
          path,
          503,
          {
            ...(path === "/mcp" && { jsonrpc: "2.0", id: null }),
            error: {
              code: "503",
              message: "MCP is off: the operator has not set an identity provider (OIDC_ISSUER).",
              reason: "UNAVAILABLE",
            },
          },
        ]);
      }
    }
    expect((await rest(off.base, "/v1/health")).status).toBe(200);
  } finally {
    await off.stop();
  }
});
