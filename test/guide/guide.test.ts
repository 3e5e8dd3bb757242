// The guide on the public listener: every page and link, its headers, its search index, and unknown paths.
import { request as httpRequest } from "node:http";
import { beforeAll, expect, test } from "vitest";
import { useService } from "../support/client.ts";
import { anchorsOf, guide, readPage } from "../docs/pages.ts";

/** The pages that are not in docs, by their names. */
const others = new Map(
  Object.entries({
    changelog: "CHANGELOG.md",
    client: "client/README.md",
    deploy: "deploy/README.md",
    examples: "examples/README.md",
    security: "SECURITY.md",
  }).map(([name, file]) => [`/guide/${name}`, readPage(file)]),
);

const service = useService({ TRUST_PROXY: "1" });
/** The HTML of every page that the index leads to, by path. */
const pages = new Map<string, string>();

beforeAll(async () => {
  // More documents are read than one address may read at once.
  const waiting = ["/guide"];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (pages.has(path)) continue;
    const response = await read(path);
    expect([path, response.status]).toEqual([path, 200]);
    pages.set(path, response.text);
    waiting.push(
      ...linksOf(response.text)
        .map((link) => link.split("#")[0] ?? "")
        .filter((link) => /^\/guide(\/[a-z-]+)?$/.test(link)),
    );
  }
});

let address = 0;

async function read(path: string, method = "GET"): Promise<{ status: number; headers: Headers; text: string }> {
  address++;
  const headers = { "X-Forwarded-For": `10.${address >> 16}.${(address >> 8) & 255}.${address & 255}` };
  const response = await fetch(service().base + path, { method, headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

function linksOf(html: string): string[] {
  return [...html.matchAll(/(?:href|src|data-index)="([^"]+)"/g)].map(([, link = ""]) => link.replaceAll("&amp;", "&"));
}

/** The status of a path exactly as it is written: fetch would resolve its dots. */
function statusOf(path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(service().base);
    httpRequest({ hostname, port, path }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .once("error", reject)
      .end();
  });
}

test("the index links to every file of the guide, and the dashboard and the reference link to the index", async () => {
  const files = guide.map(({ path }) => path.replace(/^docs\/(?:README)?(.*?)\.md$/, "/guide/$1").replace(/\/$/, ""));
  expect([...pages.keys()].sort()).toEqual([...files, ...others.keys()].sort());
  expect(linksOf((await read("/docs")).text)).toContain("guide");
  expect(linksOf((await read("/")).text)).toContain("/guide");
});

test("every link, picture, style and script of every page has a target, and every anchor is on its page", async () => {
  const known = new Map<string, number>();
  for (const [path, html] of pages) {
    for (const link of linksOf(html).filter((one) => !/^https?:/.test(one))) {
      const [target = "", anchor] = link.split("#");
      const page = target === "" ? path : target;
      if (!known.has(page)) known.set(page, (await read(page)).status);
      expect([path, link, known.get(page)]).toEqual([path, link, 200]);
      if (anchor !== undefined) expect(pages.get(page), `${path}: ${link}`).toContain(`id="${anchor}"`);
    }
  }
  expect(known.size).toBeGreaterThan(pages.size + 4);
});

test("a link to another file of the guide leads to its page, from wherever it is", () => {
  expect(pages.get("/guide/quickstart")).toContain('href="/guide/examples"');
  expect(pages.get("/guide/client")).toContain('href="/guide/grpc"');
  expect(pages.get("/guide/deploy")).toContain('href="/guide/settings"');
});

test("every heading of a file has the same anchor on its page as on a code host", () => {
  for (const { path, ...page } of guide) {
    const html = pages.get(path === "docs/README.md" ? "/guide" : path.replace(/^docs(.*)\.md$/, "/guide$1")) ?? "";
    for (const anchor of anchorsOf({ path, ...page })) expect(html, path).toContain(`id="${anchor}"`);
  }
});

test("the policy of a page allows only our own scripts, styles and pictures, and the page has none inline", async () => {
  for (const [path, html] of pages) {
    const { headers } = await read(path);
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect([
      headers.get("content-type"),
      headers.get("referrer-policy"),
      headers.get("x-content-type-options"),
    ]).toEqual(["text/html; charset=utf-8", "same-origin", "nosniff"]);
    expect(html, path).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|\sstyle=/);
    for (const link of [...html.matchAll(/<(?:script|link|img)[^>]*(?:src|href)="([^"]+)"/g)])
      expect(link[1]).toMatch(/^\//);
  }
});

test("files are cached forever under their hash, and the diagrams are pictures", async () => {
  const concepts = pages.get("/guide/concepts") ?? "";
  const diagrams = linksOf(concepts).filter((link) => link.endsWith(".svg") && link.startsWith("/guide/"));
  expect(diagrams).toHaveLength(2);
  for (const path of [...diagrams, ...linksOf(concepts).filter((link) => /^\/guide\/.+\.(css|js|json)$/.test(link))]) {
    const { headers } = await read(path);
    expect([path, headers.get("cache-control")]).toEqual([path, "public, max-age=31536000, immutable"]);
  }
  expect((await read(diagrams[0] ?? "")).headers.get("content-type")).toBe("image/svg+xml");
});

test.each([
  "/guide/nothing",
  "/guide/README",
  "/guide/readme.md",
  "/guide/search.md",
  "/guide/../package.json",
  "/guide/../docs/README.md",
  "/guide/..%2fpackage.json",
  "/guide/%2e%2e/%2e%2e/etc/passwd",
  "/guide//search",
  "/guide/%00",
  "/guide/%zz",
  "/guide/search%2f..",
  "/guide/AAAAAAAAAAAAAAAAAAAAAA/guide.css",
  "/guide/constructor",
  "/guide/__proto__",
  `/guide/${"a".repeat(4_000)}`,
  "/guidebook",
])("%s is not a page", async (path) => {
  expect(await statusOf(path)).toBe(404);
});

test("a browser gets a page for an unknown address of the guide and of the reference, and a program the envelope", async () => {
  for (const path of ["/guide/nope", "/docs/nope"]) {
    const ofBrowser = await fetch(service().base + path, { headers: { Accept: "text/html,*/*;q=0.8" } });
    expect([ofBrowser.status, ofBrowser.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
    expect(await ofBrowser.text()).toMatch(/<title>.*404|not found|does not exist/i);
    const ofProgram = await fetch(service().base + path);
    expect([ofProgram.status, ofProgram.headers.get("content-type")]).toEqual([404, "application/json; charset=utf-8"]);
  }
});

test("a page accepts GET and HEAD, lists its methods, and rejects others", async () => {
  expect([(await read("/guide/search", "HEAD")).status, (await read("/guide/search", "HEAD")).text]).toEqual([200, ""]);
  expect((await read("/guide/search", "OPTIONS")).headers.get("allow")).toBe("GET, HEAD, OPTIONS");
  const posted = await read("/guide/search", "POST");
  expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
});

test("the search index has every section of every page, by the words under it", async () => {
  const path = linksOf(pages.get("/guide") ?? "").find((link) => link.endsWith("search.json")) ?? "";
  const entries = JSON.parse((await read(path)).text) as [string, string, string, string][];
  const anchors = [...guide, ...others.values()].reduce((count, page) => count + anchorsOf(page).size, 0);
  expect(entries).toHaveLength(anchors);
  const found = entries.find(([, , place]) => place === "/guide/search#phones");
  expect(found?.slice(0, 2)).toEqual(["Search", "Phones"]);
  expect(found?.[3]).toContain("Spaces and the + do not matter");
});

test("samples contain the address of this service, and a link to a page of the guide is a path", () => {
  const html = pages.get("/guide/quickstart") ?? "";
  expect(html).toContain(`${new URL(service().base).port}/v1/contacts?query=ann+lee`);
  expect(html).not.toContain("localhost:8080");
  expect(html).not.toMatch(/href="[^"]*\.md/);
  expect(readPage("docs/quickstart.md").text).toContain("localhost:8080");
});
