// The official conformance suite against a running instance: the scenarios that need no tools, prompts or resources of
// the suite's own, and no capability that we do not offer (logging, completion, subscriptions).
import type { AddressInfo } from "node:net";
import http from "node:http";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { testCacheDir } from "../../fixtures/databases/cache-dir.ts";
import { useSignInFixture } from "../../fixtures/sign-in/fixture.ts";
import type { Holder } from "../tools/set-up.ts";
import { holderOf } from "../tools/set-up.ts";
import type { Check, Runner } from "./runner.ts";
import { checksOf, fetchRunner } from "./runner.ts";

// The service starts, and two processes run some fifty scenarios each.
vi.setConfig({ hookTimeout: 300_000 });

/** Needs of its scenarios that no service but the suite's own example has: a diagnostic tool of each name. */
const notOurs = [
  "sep-2575-server-rejects-undeclared-capability",
  "sep-2575-missing-capability-http-400",
  "sep-2575-http-server-no-independent-requests-on-stream",
  "sep-2575-server-no-log-without-loglevel",
];
/** Where it is set, as in CI, a runner that cannot be fetched is a failure. */
const isRequired = process.env["MCP_CLIENTS"] === "required";
const absent = "The conformance runner cannot be fetched.";
const runner = findRunner();
const fixture = useSignInFixture();
const servers: http.Server[] = [];
/** The checks by revision and scenario: one process runs all scenarios of a revision. */
const checks = new Map<string, readonly Check[]>();
let holder: Holder;

describe("the conformance suite", () => {
  beforeAll(async () => {
    if (runner === undefined) return;
    holder = await holderOf(fixture());
    const url = await withToken();
    const all = ["2025-11-25", "2026-07-28"].map(async (revision) => {
      const found = await checksOf(runner, url, ["--requirements", revision]);
      for (const [scenario, those] of found) checks.set(`${revision} ${scenario}`, those);
    });
    await Promise.all(all);
  });
  afterAll(() => {
    for (const server of servers) server.close().closeAllConnections();
  });

  test.for([
    ["2025-11-25", "server-initialize", "MCP-03"],
    ["2025-11-25", "ping", "MCP-03"],
    ["2025-11-25", "tools-list", "MCP-07"],
    ["2025-11-25", "resources-list", "MCP-03"],
    ["2025-11-25", "prompts-list", "MCP-03"],
    ["2025-11-25", "dns-rebinding-protection", "MCP-05"],
    ["2026-07-28", "server-stateless", "MCP-02"],
    ["2026-07-28", "tools-list", "MCP-07"],
    ["2026-07-28", "resources-list", "MCP-02"],
    ["2026-07-28", "prompts-list", "MCP-02"],
    ["2026-07-28", "sep-2164-resource-not-found", "MCP-02"],
    ["2026-07-28", "caching", "MCP-02"],
    ["2026-07-28", "http-header-validation", "MCP-02"],
    ["2026-07-28", "dns-rebinding-protection", "MCP-05"],
  ])("accepts the response of %s to %s [%s]", ([revision, scenario], { skip }) => {
    if (runner === undefined) skip(absent);
    const found = checks.get(`${revision} ${scenario}`) ?? [];
    expect(found.some(({ status }) => status === "SUCCESS")).toBe(true);
    expect(found.filter(({ id, status }) => status === "FAILURE" && !notOurs.includes(id))).toEqual([]);
  });
});

function findRunner(): Runner | undefined {
  try {
    return fetchRunner(testCacheDir());
  } catch (error) {
    if (isRequired) throw error;
    console.warn(`The official MCP conformance runner is not here, test/mcp/conformance is LEFT OUT: ${String(error)}`);
    return undefined;
  }
}

/** The suite sends no Authorization: what is before the service does, under the service's own name. */
async function withToken(): Promise<string> {
  const { host } = new URL(fixture().base);
  const server = http.createServer((incoming, response) => {
    const own = `localhost:${(server.address() as AddressInfo).port}`;
    const headers = { ...incoming.headers, authorization: `Bearer ${holder.token}` };
    if (incoming.headers.host === own) headers.host = host;
    if (incoming.headers.origin === `http://${own}`) headers.origin = `http://${host}`;
    incoming.pipe(
      http.request(holder.url, { method: incoming.method ?? "POST", headers }, (received) => {
        response.writeHead(received.statusCode ?? 502, received.headers);
        received.pipe(response);
      }),
    );
  });
  servers.push(server);
  await new Promise<void>((listening) => void server.listen(0, "localhost", listening));
  return `http://localhost:${(server.address() as AddressInfo).port}/mcp`;
}
