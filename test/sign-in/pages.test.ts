// The dashboard's paths as HTTP: methods, headers, assets, the host name, and the throttle.
import { request as http1 } from "node:http";
import { describe, expect, test } from "vitest";
import { http2Call } from "../fixtures/clients/http2-call.ts";
import { ann } from "../fixtures/sign-in/users.ts";
import { sendRequest, signIn, useSignInFixture } from "../fixtures/sign-in/fixture.ts";

const fixture = useSignInFixture();

/** A request whose `Host` is not the address that it is sent to; `fetch` sets its own. */
function withHost(
  host: string,
  path: string,
  port = fixture().service.app.port,
): Promise<{ status: number | undefined; location: string | undefined }> {
  return new Promise((resolve, reject) => {
    const sent = http1({ host: "127.0.0.1", port, path, headers: { Host: host } }, (response) => {
      response.resume();
      response.on("end", () => resolve({ status: response.statusCode, location: response.headers.location }));
    });
    sent.on("error", reject).end();
  });
}

describe("a page", () => {
  test("allows only our own script file, is not cached, and has the declared content type [DSH-01]", async () => {
    const { cookie } = await signIn(fixture(), ann);
    const { base, provider } = fixture();
    for (const response of [
      await sendRequest(`${base}/`),
      await sendRequest(`${base}/`, { cookie }),
      await sendRequest(`${base}/sign-in/callback`, { accept: "text/html" }),
      await sendRequest(`${base}/sign-out`, { method: "POST", accept: "text/html", cookie }),
    ]) {
      const { headers, text } = response;
      const policy = new Map(
        (headers.get("content-security-policy") ?? "")
          .split(/;\s*/)
          .map((one) => [one.split(" ")[0], one.split(" ").slice(1)]),
      );
      expect(policy.get("default-src")).toEqual(["'none'"]);
      for (const directive of ["script-src", "style-src", "img-src", "connect-src"])
        expect(policy.get(directive)).toEqual(["'self'"]);
      for (const directive of ["base-uri", "frame-ancestors"]) expect(policy.get(directive)).toEqual(["'none'"]);
      // A browser applies this also to where the form's response leads.
      expect(policy.get("form-action")).toEqual([
        "'self'",
        ...(text.includes('action="/sign-out"') ? [provider.issuer] : []),
      ]);
      expect([
        headers.get("cache-control"),
        headers.get("x-content-type-options"),
        headers.get("referrer-policy"),
      ]).toEqual(["no-store", "nosniff", "same-origin"]);
      expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(text).toMatch(/^<!DOCTYPE html>/i);
      expect(text).not.toMatch(/<script(?![^>]*\bsrc="\/)|<style|\sstyle="|\son[a-z]+="|javascript:/i);
      expect(headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
      expect(headers.get("ratelimit-limit")).toBeNull();
    }
  });

  test("is shown at an unknown address to browsers only: programs, and every request below the paths of the API, get the envelope", async () => {
    const { base } = fixture();
    const page = await sendRequest(`${base}/no/such/page`, { accept: "text/html,*/*;q=0.8" });
    expect([page.status, page.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
    expect(page.text).toContain("Page not found");
    const ofPrograms = ["/v1", "/v1/nothing", "/v2/contacts", "/mcp/more", "/.well-known/other", "/records.v1.X/Y"];
    for (const path of [...ofPrograms, "//v1/contacts", "/V1/contacts"]) {
      const response = await sendRequest(base + path, { accept: "text/html" });
      expect([path, response.headers.get("content-type")]).toEqual([path, "application/json; charset=utf-8"]);
    }
    // What Java's HttpURLConnection sends.
    const accept = "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2";
    const withKey = await sendRequest(`${base}/contacts`, { accept, headers: { Authorization: "Bearer rec_x" } });
    expect([withKey.status, withKey.body?.error.code]).toEqual([404, "404"]);
    for (const accept of ["*/*", "application/json", "text/html;q=0"]) {
      const response = await sendRequest(`${base}/no/such/page`, { accept });
      expect([accept, response.status, response.body.error.code]).toEqual([accept, 404, "404"]);
    }
  });

  test("serves HEAD as GET without its body, and lists its methods for all others", async () => {
    const { base } = fixture();
    const { cookie } = await signIn(fixture(), ann);
    const [get, head] = [
      await sendRequest(`${base}/`, { cookie }),
      await sendRequest(`${base}/`, { cookie, method: "HEAD" }),
    ];
    expect([head.status, head.text, head.headers.get("content-length")]).toEqual([
      200,
      "",
      get.headers.get("content-length"),
    ]);
    for (const path of ["/", "/sign-in", "/sign-in/callback", "/dashboard.css"]) {
      for (const method of ["POST", "PUT", "DELETE", "PATCH"]) {
        const response = await sendRequest(base + path, {
          method,
          origin: base,
          ...(method === "POST" ? { body: "x=y" } : {}),
        });
        expect([response.status, response.headers.get("allow"), response.body?.error.code]).toEqual([
          405,
          "GET, HEAD, OPTIONS",
          "405",
        ]);
        const page = await sendRequest(base + path, { method, origin: base, accept: "text/html" });
        expect([page.status, page.headers.get("allow"), page.headers.get("content-type")]).toEqual([
          405,
          "GET, HEAD, OPTIONS",
          "text/html; charset=utf-8",
        ]);
      }
      const options = await sendRequest(base + path, { method: "OPTIONS" });
      expect([options.status, options.headers.get("allow"), options.text]).toEqual([204, "GET, HEAD, OPTIONS", ""]);
    }
    expect((await sendRequest(`${base}/sign-in`, { method: "HEAD" })).status).toBe(303);
  });

  test.each(["GET", "HEAD"])("is served to %s over HTTP/2 as well", async (method) => {
    const { status, text } = await http2Call(fixture().base, { ":method": method, ":path": "/" });
    expect([status, text === ""]).toEqual([200, method === "HEAD"]);
  });
});

test("has files with an ETag, which are not sent again to a browser that has them", async () => {
  const { base } = fixture();
  const page =
    (await sendRequest(`${base}/`)).text +
    (await sendRequest(`${base}/`, { cookie: (await signIn(fixture(), ann)).cookie })).text;
  const paths = [
    ...new Set([...page.matchAll(/<(?:link|script|img)\b[^>]*?(?:href|src)="([^"]+)"/g)].map(([, path = ""]) => path)),
  ];
  expect(paths.length).toBeGreaterThan(1);
  for (const path of [...paths, "/favicon.ico"]) {
    const { status, headers, text } = await sendRequest(base + path);
    expect([path, status]).toEqual([path, 200]);
    expect(headers.get("content-type")).toMatch(
      /^(text\/css; charset=utf-8|text\/javascript; charset=utf-8|image\/svg\+xml)$/,
    );
    expect(text).not.toBe("");
    expect([headers.get("x-content-type-options"), headers.get("cache-control")]).toEqual(["nosniff", "no-cache"]);
    const etag = headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[A-Za-z0-9_-]+"$/);
    const again = await sendRequest(base + path, { headers: { "If-None-Match": etag } });
    expect([again.status, again.text, again.headers.get("etag")]).toEqual([304, "", etag]);
    expect((await sendRequest(base + path, { headers: { "If-None-Match": '"another"' } })).status).toBe(200);
    expect((await sendRequest(base + path, { method: "HEAD" })).text).toBe("");
  }
});

test.each([
  "/nothing",
  "/sign-in/",
  "/sign-in/other",
  "/Sign-In",
  "/sign-out/",
  "//",
  "/dashboard",
  "/dashboard/",
  "/page.ts",
  "/../package.json",
  "/..%2fpackage.json",
  "/constructor",
  "/__proto__",
  "/toString",
])("the unknown path %s is 404, with a page for a browser and JSON for a program", async (path) => {
  const page = await sendRequest(`${fixture().base}${path}`, { accept: "text/html" });
  expect([page.status, page.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
  const { status, headers, body } = await sendRequest(`${fixture().base}${path}`, { accept: "application/json" });
  expect([status, headers.get("content-type"), body]).toEqual([
    404,
    "application/json; charset=utf-8",
    {
      error: {
        code: "404",
        message: "The path does not exist. Check it against the API reference.",
        reason: "UNKNOWN_PATH",
      },
    },
  ]);
});

describe("the host name in the browser's address", () => {
  test.each(["/", "/?x=y", "/sign-in"])(
    "is changed from 127.0.0.1 to localhost, which has the cookies (%s) [DSH-01]",
    async (path) => {
      const { port } = fixture().service.app;
      for (const host of [`127.0.0.1:${port}`, `[::1]:${port}`])
        expect(await withHost(host, path)).toEqual({ status: 303, location: `http://localhost:${port}${path}` });
      const { headers } = await sendRequest(`http://127.0.0.1:${port}${path}`);
      expect(headers.getSetCookie()).toEqual([]);
    },
  );

  test("is kept if it is another name, has another port, or is not of this machine", async () => {
    const { port } = fixture().service.app;
    for (const host of [
      `localhost:${port}`,
      "records.example.com",
      `records.example.com:${port}`,
      `127.0.0.1:${port + 1}`,
      `127.0.0.2:${port}`,
      `127.0.0.1.evil.example:${port}`,
    ]) {
      expect([host, (await withHost(host, "/")).status]).toEqual([host, 200]);
    }
  });

  test("is kept if the base URL of the service is not on this machine", async () => {
    const one = await fixture().service.another({ BASE_URL: "https://records.example.com" });
    try {
      for (const path of ["/", "/v1/health"]) expect((await sendRequest(one.base + path)).status).toBe(200);
      // Without a port in the name, as behind a proxy on this machine.
      for (const host of ["localhost", "127.0.0.1"]) expect((await withHost(host, "/", one.app.port)).status).toBe(200);
    } finally {
      await one.stop();
    }
  });
});

test("a page, the sign-in and the callback take from the address's bucket; a user gets a page that says to wait", async () => {
  const one = await fixture().service.another({
    BASE_URL: fixture().base,
    RATE_LIMIT: "1",
    RATE_BURST: "1",
    TRUST_PROXY: "1",
  });
  try {
    let address = 0;
    for (const path of ["/", "/sign-in", "/sign-in/callback?code=x&state=y", "/sign-out", "/sign-out/back-channel"]) {
      const headers = { "X-Forwarded-For": `10.0.0.${++address}` };
      const method = path.startsWith("/sign-out") ? "POST" : "GET";
      const url = one.base + path;
      expect((await sendRequest(url, { method, headers })).status).not.toBe(429);
      const page = await sendRequest(url, { method, headers, accept: "text/html" });
      expect([page.status, page.headers.get("content-type"), page.headers.get("retry-after")]).toEqual([
        429,
        "text/html; charset=utf-8",
        "1",
      ]);
      expect(page.headers.getSetCookie()).toEqual([]);
      const json = await sendRequest(url, { method, headers });
      expect([json.status, json.body.error.code, json.headers.get("retry-after")]).toEqual([429, "429", "1"]);
      expect((await sendRequest(url, { method, headers: { "X-Forwarded-For": `10.0.1.${address}` } })).status).not.toBe(
        429,
      );
      // The files of the page have a bucket of their own.
      for (let time = 0; time < 3; time++)
        expect((await sendRequest(`${one.base}/dashboard.css`, { headers })).status).toBe(200);
    }
  } finally {
    await one.stop();
  }
});

test("there is no per-client list of connected apps: neither the interface nor the page has one [DSH-05]", async () => {
  const { base } = fixture();
  const { cookie } = await signIn(fixture(), ann);
  const { body } = await sendRequest(`${base}/openapi.json`);
  const words = /client|connect|app(s|lication)|grant|consent|authoriz|token|oauth|assistant/i;
  const paths = Object.keys(body.paths as object);
  expect(paths).toContain("/v1/api-key");
  expect(paths.filter((path) => words.test(path))).toEqual([]);
  const { text } = await sendRequest(`${base}/`, { cookie });
  expect(text).not.toMatch(
    /connected (apps?|clients?|assistants?)|authorized (apps?|clients?|applications?)|client[_ -]?id/i,
  );
});
