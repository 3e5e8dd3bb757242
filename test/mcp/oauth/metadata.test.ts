// The documents by which an assistant finds out where to sign in: where they are served, what they name, and to whom.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { FakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import { away, startFakeProvider } from "../../fixtures/sign-in/fake-provider.ts";
import type { RestResponse, TestService } from "../../fixtures/service/service.ts";
import { odd, openIdPath, resourcePath, serverPath, text, useDocuments } from "./documents.ts";

const { fake, service, base, get } = useDocuments();
let elsewhere: TestService;
beforeAll(async () => {
  elsewhere = await service().another({ MCP_URL: "https://mcp.example.com/assistants/records" });
});
afterAll(() => elsewhere.stop());

describe("the protected resource's document", () => {
  test.each([resourcePath, `${resourcePath}/mcp`])(
    "is served at %s, with MCP_URL and the external issuer byte for byte [OAU-02, OAU-03, OAU-22]",
    async (path) => {
      const { status, headers, body } = await get(path);
      expect([
        status,
        headers.get("content-type"),
        headers.get("cache-control"),
        headers.get("ratelimit-limit"),
      ]).toEqual([200, "application/json", "no-store", null]);
      expect(headers.get("x-request-id")).toMatch(/^[\w.-]{1,128}$/);
      expect(body).toEqual({
        resource: `${base()}/mcp`,
        authorization_servers: [fake().issuer],
        scopes_supported: ["email", "profile"],
        bearer_methods_supported: ["header"],
        resource_name: "Records",
      });
    },
  );

  test("names no openid by default and only scopes that the provider lists, and the scopes of MCP_SCOPES as they are set [OAU-22]", async () => {
    const scopesOf = async (environment: Record<string, string>): Promise<unknown> => {
      const one = await service().another(environment);
      try {
        return (await get(resourcePath, {}, one.base)).body.scopes_supported;
      } finally {
        await one.stop();
      }
    };
    fake().metadata["scopes_supported"] = ["openid", "email", "offline_access"];
    try {
      expect(await scopesOf({})).toEqual(["email"]);
      // A provider may have scopes that it does not list.
      expect(await scopesOf({ MCP_SCOPES: "openid records.read" })).toEqual(["openid", "records.read"]);
    } finally {
      delete fake().metadata["scopes_supported"];
    }
  });

  test("names MCP_URL on another origin and path, and is also at the address for that path; the challenge points to that origin [OAU-01, OAU-02, OAU-03]", async () => {
    for (const path of [resourcePath, `${resourcePath}/assistants/records`, `${resourcePath}/mcp`]) {
      expect((await get(path, {}, elsewhere.base)).body.resource).toBe("https://mcp.example.com/assistants/records");
    }
    expect((await get("/mcp", {}, elsewhere.base)).headers.get("www-authenticate")).toContain(
      'resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource"',
    );
    expect((await get(`${resourcePath}/assistants/records`)).status).toBe(404);
  });

  test("names an MCP_URL without a path, or with a slash at its end, as it is set [OAU-03]", async () => {
    for (const url of [
      "https://mcp.example.com",
      "https://mcp.example.com/",
      "https://mcp.example.com/x/",
      "http://MCP.example.com:80/mcp",
    ]) {
      const one = await service().another({ MCP_URL: url });
      try {
        expect((await get(resourcePath, {}, one.base)).body.resource).toBe(url);
      } finally {
        await one.stop();
      }
    }
  });
});

describe.each(["/tenant", "/tenant/", "/"])("an issuer that ends with %s", (ending) => {
  let other: FakeProvider;
  let instance: TestService;
  let named: string;
  const own = ending.replace(/\/$/, "");
  beforeAll(async () => {
    other = await startFakeProvider();
    named = `${other.issuer}${ending}`;
    other.responses.set(`${own}${openIdPath}`, text(odd(named)));
    instance = await service().another({ ...other.settings(), OIDC_ISSUER: named });
  });
  afterAll(async () => {
    await instance.stop();
    await other.stop();
  });

  test("is named byte for byte, and its only document, that of OpenID Connect, is copied to all paths [OAU-03, OAU-04]", async () => {
    expect((await get(resourcePath, {}, instance.base)).body.authorization_servers).toEqual([named]);
    const direct = await (await fetch(`${other.issuer}${own}${openIdPath}`)).text();
    expect(direct).toBe(odd(named));
    for (const path of [serverPath, `${serverPath}/mcp`, openIdPath, `${openIdPath}/mcp`]) {
      const { status, text: copy } = await get(path, {}, instance.base);
      expect([path, status, copy]).toEqual([path, 200, direct]);
    }
  });

  test("is named while the provider is unavailable, too [OAU-03]", async () => {
    other.responses.set("*", away);
    expect((await get(resourcePath, {}, instance.base)).body.authorization_servers).toEqual([named]);
    other.responses.delete("*");
  });
});

test("uses the provider's name for itself if it differs from the setting by a slash [OAU-03]", async () => {
  const slashed = await service().another({ OIDC_ISSUER: `${fake().issuer}/` });
  try {
    // The provider says so in its document, and no assistant accepts another.
    expect((await get(resourcePath, {}, slashed.base)).body.authorization_servers).toEqual([fake().issuer]);
  } finally {
    await slashed.stop();
  }
});

describe.each([resourcePath, `${resourcePath}/mcp`, serverPath, `${serverPath}/mcp`, openIdPath])(
  "the document %s",
  (path) => {
    test("needs no token, ignores one, and can be read from any origin [OAU-05]", async () => {
      for (const headers of [
        {},
        { Origin: "https://any.example" },
        { Authorization: "Bearer garbage" },
        { Origin: "null", Authorization: "Basic eDp5" },
      ]) {
        const { status, headers: said } = await get(path, headers);
        expect([
          status,
          said.get("access-control-allow-origin"),
          said.get("access-control-allow-credentials"),
          said.get("access-control-expose-headers")?.includes("Retry-After"),
          said.get("www-authenticate"),
        ]).toEqual([200, "*", null, true, null]);
      }
    });

    test("serves HEAD without a body, OPTIONS with the allowed methods, and other methods with 405, all with CORS [OAU-05]", async () => {
      const whole = await get(path);
      const head = await get(path, { Origin: "https://any.example" }, base(), "HEAD");
      expect([
        head.status,
        head.text,
        head.headers.get("content-length"),
        head.headers.get("access-control-allow-origin"),
      ]).toEqual([200, "", String(Buffer.byteLength(whole.text)), "*"]);
      const preflight = {
        Origin: "https://any.example",
        "Access-Control-Request-Method": "GET",
        "Access-Control-Request-Headers": "mcp-protocol-version,authorization",
      };
      const options = await get(path, preflight, base(), "OPTIONS");
      expect([options.status, options.text, options.headers.get("allow")]).toEqual([204, "", "GET, HEAD, OPTIONS"]);
      expect(
        ["origin", "methods", "headers"].map((name) => options.headers.get(`access-control-allow-${name}`)),
      ).toEqual(["*", "GET, HEAD, OPTIONS", "*, Authorization"]);
      for (const method of ["POST", "PUT", "DELETE", "PATCH"]) {
        const { status, headers, body } = await get(path, {}, base(), method);
        expect([
          method,
          status,
          headers.get("allow"),
          headers.get("access-control-allow-origin"),
          body.error.code,
        ]).toEqual([method, 405, "GET, HEAD, OPTIONS", "*", "405"]);
      }
    });
  },
);

test("the documents stay available while the public interface is disabled [OAU-05]", async () => {
  const switchTo = (enabled: boolean): Promise<RestResponse> =>
    service().internalCall("records.admin.v1.InterfaceService/SetPublicInterface", { enabled, reason: "test" });
  await switchTo(false);
  try {
    for (const path of [resourcePath, `${resourcePath}/mcp`, serverPath, `${serverPath}/mcp`])
      expect([path, (await get(path)).status]).toEqual([path, 200]);
  } finally {
    await switchTo(true);
  }
});

test("similar paths are 404 in the envelope [OAU-02]", async () => {
  for (const path of [
    `${resourcePath}/`,
    `${resourcePath}/x`,
    `${resourcePath}/mcp/`,
    `${serverPath}x`,
    "/.well-known/",
    "/.well-known/jwks.json",
    "/.WELL-KNOWN/oauth-protected-resource",
  ]) {
    const { status, body } = await get(path);
    expect([path, status, body.error.code]).toEqual([path, 404, "404"]);
  }
});
