// The reference page and what belongs to it, over HTTP: who may read it, how it is kept, and what it may do in a
// browser.
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestService } from "../fixtures/service/service.ts";
import { startService } from "../fixtures/service/service.ts";
import { from } from "../fixtures/service/from.ts";

let service: TestService;

beforeAll(async () => {
  const started = await startService({ TRUST_PROXY: "1" });
  // Each request has an address of its own: the tests need more documents than one address may get.
  const rest: TestService["rest"] = (path, given = {}) =>
    started.rest(path, { ...given, headers: { ...from(), ...given.headers } });
  service = { ...started, rest };
});
afterAll(() => service.stop());

const documents = [
  ["/docs", "text/html; charset=utf-8"],
  ["/openapi.json", "application/json; charset=utf-8"],
  ["/openapi.yaml", "application/yaml; charset=utf-8"],
  ["/llms.txt", "text/plain; charset=utf-8"],
] as const;

/** What the page requests, as absolute paths. */
async function assetPaths(at = service): Promise<string[]> {
  const { text } = await at.rest("/docs");
  return [...text.matchAll(/(?:src|href)="(docs\/[^"]+)"/g)].map(([, path]) => `/${path ?? ""}`);
}

/** As it comes off the wire: fetch would unpack it. */
function raw(
  path: string,
  headers: Record<string, string>,
): Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(service.base + path, { headers: { ...from(), ...headers } }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) }),
      );
    });
    outgoing.on("error", reject).end();
  });
}

test.each(documents)(
  "%s responds without a credential, with a wrong one, and while the interface is disabled [OAS-01]",
  async (path, type) => {
    for (const key of [undefined, "rec_wrong"]) {
      const { status, headers, text } = await service.rest(path, { key });
      expect([status, headers.get("Content-Type")]).toEqual([200, type]);
      expect(text).toContain("Records");
      expect(headers.get("X-Request-Id")).toMatch(/./);
    }
    const set = (enabled: boolean) =>
      service.internalCall("records.admin.v1.InterfaceService/SetPublicInterface", { enabled, reason: "a test" });
    await set(false);
    try {
      expect((await service.rest("/v1/contacts?query=ann")).status).toBe(503);
      expect((await service.rest(path)).status).toBe(200);
    } finally {
      await set(true);
    }
  },
);

test.each(documents)(
  "%s accepts GET, HEAD and OPTIONS, and rejects other methods in the envelope",
  async (path, type) => {
    const identity = { "Accept-Encoding": "identity" };
    const head = await service.rest(path, { method: "HEAD", headers: identity });
    expect([head.status, head.text, head.headers.get("Content-Type")]).toEqual([200, "", type]);
    expect(Number(head.headers.get("Content-Length"))).toBe(Buffer.byteLength((await service.rest(path)).text));
    const options = await service.rest(path, { method: "OPTIONS" });
    expect([options.status, options.headers.get("Allow")]).toEqual([204, "GET, HEAD, OPTIONS"]);
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      const { status, headers, body } = await service.rest(path, { method });
      expect([status, headers.get("Allow"), body]).toEqual([
        405,
        "GET, HEAD, OPTIONS",
        { error: { code: "405", message: expect.stringMatching(/\S/), reason: "METHOD_NOT_ALLOWED" } },
      ]);
    }
  },
);

test.each([...documents.map(([path]) => path).filter((path) => path !== "/docs"), "/llms.txt"])(
  "pages of any origin may read %s, and clients revalidate it and get it compressed [OAS-01, FMT-10]",
  async (path) => {
    const origin = { Origin: "https://editor.example" };
    const plain = await service.rest(path, { headers: { ...origin, "Accept-Encoding": "identity" } });
    expect(plain.headers.get("Access-Control-Allow-Origin")).toBe("*");
    expect(plain.headers.get("Cache-Control")).toBe("no-cache");
    expect(plain.headers.get("Vary")).toMatch(/\bAccept-Encoding\b/);
    const gzip = await fetch(service.base + path, { headers: { "Accept-Encoding": "gzip" } });
    expect([gzip.headers.get("Content-Encoding"), await gzip.text()]).toEqual(["gzip", plain.text]);
    const [tag, gzipTag] = [plain.headers.get("ETag") ?? "", gzip.headers.get("ETag") ?? ""];
    expect(tag).not.toBe(gzipTag);
    for (const [condition, status] of [
      [tag, 304],
      [`"other", W/${tag}`, 304],
      ['"other"', 200],
    ] as const) {
      const headers = { ...origin, "Accept-Encoding": "identity", "If-None-Match": condition };
      const again = await service.rest(path, { headers });
      expect([again.status, again.headers.get("ETag")]).toEqual([status, tag]);
      expect(again.headers.get("Access-Control-Allow-Origin")).toBe("*");
    }
    const preflight = await service.rest(path, { method: "OPTIONS", headers: origin });
    expect([preflight.status, preflight.headers.get("Access-Control-Allow-Origin")]).toEqual([204, "*"]);
    expect(preflight.headers.get("Access-Control-Allow-Methods")).toBe("GET, HEAD, OPTIONS");
  },
);

test.each([
  ["/docs/", "/docs"],
  ["/docs/?a=b", "/docs?a=b"],
  ["/guide/", "/guide"],
  ["/guide/search/", "/guide/search"],
])("%s leads to %s", async (path, location) => {
  const response = await fetch(service.base + path, { redirect: "manual" });
  expect([response.status, response.headers.get("Location")]).toEqual([308, location]);
  expect((await fetch(service.base + path)).status).toBe(200);
});

test.each(["/guide/nope/", "/guide//", "//guide/", "/docs//"])("%s is still an unknown path", async (path) => {
  expect((await fetch(service.base + path, { redirect: "manual" })).status).toBe(404);
});

test("the page can load and call only its own origin, and nobody can frame it", async () => {
  const { headers } = await service.rest("/docs");
  expect(headers.get("Content-Security-Policy")?.split("; ")).toEqual([
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]);
  expect([headers.get("X-Content-Type-Options"), headers.get("Referrer-Policy"), headers.get("Cache-Control")]).toEqual(
    ["nosniff", "same-origin", "no-store"],
  );
});

test("every address in the page is relative, and without scripts the page links to the document", async () => {
  const { text } = await service.rest("/docs");
  const addresses = [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address ?? "");
  expect(addresses.length).toBeGreaterThan(6);
  expect(addresses.filter((address) => /^\/|:/.test(address))).toEqual([]);
  const [, withoutScripts = ""] = /<noscript>(.*)<\/noscript>/s.exec(text) ?? [];
  for (const link of ['href="openapi.json"', 'href="openapi.yaml"', 'href="llms.txt"', 'href="./"'])
    expect(withoutScripts).toContain(link);
});

test("the page's files are cached forever under a name with their hash, in the smallest encoding that the client accepts", async () => {
  const paths = await assetPaths();
  expect(paths.map((path) => path.slice(path.lastIndexOf("/") + 1)).sort()).toEqual([
    "reference.css",
    "renderer.js",
    "start.js",
  ]);
  const unpack = { br: brotliDecompressSync, gzip: gunzipSync } as const;
  for (const path of paths) {
    const plain = await raw(path, {});
    expect([plain.status, plain.headers["content-encoding"]]).toEqual([200, undefined]);
    const etags = new Set([plain.headers["etag"]]);
    for (const [accepted, encoding] of [
      ["gzip, deflate, br", "br"],
      ["gzip", "gzip"],
      ["br;q=0, *", "gzip"],
    ] as const) {
      const { status, headers, body } = await raw(path, { "Accept-Encoding": accepted });
      expect([status, headers["content-encoding"], headers["vary"], headers["content-length"]]).toEqual([
        200,
        encoding,
        "Accept-Encoding",
        String(body.length),
      ]);
      expect(headers["cache-control"]).toBe("public, max-age=31536000, immutable");
      expect(unpack[encoding](body).equals(plain.body)).toBe(true);
      etags.add(headers["etag"]);
      const again = await raw(path, { "Accept-Encoding": accepted, "If-None-Match": String(headers["etag"]) });
      expect([again.status, again.body.length]).toEqual([304, 0]);
    }
    expect(etags.size).toBe(3);
    expect((await raw(path, { "Accept-Encoding": "gzip;q=0, br;q=0" })).headers["content-encoding"]).toBeUndefined();
    expect((await service.rest(path, { method: "POST" })).status).toBe(405);
  }
  const renderer = paths.find((path) => path.endsWith("renderer.js")) ?? "";
  expect((await raw(renderer, { "Accept-Encoding": "br" })).body.length).toBeLessThan(1_100_000);
});

test.each([
  "/docs//",
  "/docs/renderer.js",
  "/docs/AAAAAAAAAAAAAAAAAAAAAA/renderer.js",
  "/docs/../package.json",
  "/docs/%2e%2e/package.json",
])("%s is not a path", async (path) => {
  const { status, body } = await service.rest(path);
  expect([status, body?.error?.code]).toEqual([404, "404"]);
});

test("the document and the page have the base address in force", async () => {
  const elsewhere = await service.another({ BASE_URL: "https://records.example" });
  try {
    expect((await elsewhere.rest("/openapi.json")).body.servers).toEqual([{ url: "https://records.example" }]);
    expect((await elsewhere.rest("/docs")).text).toContain('data-base-url="https://records.example"');
    expect(await assetPaths(elsewhere)).toEqual(await assetPaths());
  } finally {
    await elsewhere.stop();
  }
});

test("the sample of a contact has a value for each field of a create", async () => {
  const { CreateContactRequest: sent, Contact: returned } = (await service.rest("/openapi.json")).body.components
    .schemas as Record<string, { properties: Record<string, { examples?: string[] }> }>;
  for (const name of Object.keys(sent?.properties ?? {}))
    expect([name, returned?.properties[name]?.examples]).toEqual([name, [expect.any(String)]]);
});
