// The official conformance suite against a running instance: the scenarios that need no tools, prompts or resources of
// the suite's own, and no capability that we do not offer (logging, completion, subscriptions).
import { execFile } from "node:child_process";
import * as fs from "node:fs";
import type { AddressInfo } from "node:net";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { useHouse } from "../../../fixtures/sign-in/house.ts";
import type { Holder } from "../tools/set-up.ts";
import { holderOf } from "../tools/set-up.ts";
import { findRunner } from "./runner.ts";

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

/** Needs of its scenarios that no service but the suite's own example has: a diagnostic tool of each name. */
const notOurs = [
  "sep-2575-server-rejects-undeclared-capability",
  "sep-2575-missing-capability-http-400",
  "sep-2575-http-server-no-independent-requests-on-stream",
  "sep-2575-server-no-log-without-loglevel",
];
const run = promisify(execFile);
const program = findRunner();
const house = useHouse();
let holder: Holder;
beforeAll(async () => {
  holder = await holderOf(house());
});

describe("the conformance suite", () => {
  test.each([
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
  ])("has nothing against what %s returns for %s [%s]", async (revision, scenario) => {
    const url = await withToken();
    const folder = fs.mkdtempSync(join(tmpdir(), "records-conformance-"));
    onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
    // It ends with 1 where a check failed: the checks themselves are looked at.
    await run(
      process.execPath,
      [
        program ?? "",
        "server",
        "--url",
        url,
        "--scenario",
        scenario,
        "--spec-version",
        revision,
        "--output-dir",
        folder,
      ],
      { cwd: folder },
    ).catch(() => undefined);
    const [results] = fs
      .readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith("checks.json"));
    const checks = JSON.parse(fs.readFileSync(join(folder, results ?? "none"), "utf8")) as Check[];
    expect(checks.some(({ status }) => status === "SUCCESS")).toBe(true);
    expect(checks.filter(({ id, status }) => status === "FAILURE" && !notOurs.includes(id))).toEqual([]);
  });
});

/** The suite sends no Authorization: what is before the service does, under the service's own name. */
async function withToken(): Promise<string> {
  const { host } = new URL(house().base);
  const server = http.createServer((asked, response) => {
    const own = `localhost:${(server.address() as AddressInfo).port}`;
    const headers = { ...asked.headers, authorization: `Bearer ${holder.token}` };
    if (asked.headers.host === own) headers.host = host;
    if (asked.headers.origin === `http://${own}`) headers.origin = `http://${host}`;
    asked.pipe(
      http.request(holder.url, { method: asked.method ?? "POST", headers }, (received) => {
        response.writeHead(received.statusCode ?? 502, received.headers);
        received.pipe(response);
      }),
    );
  });
  await new Promise<void>((listening) => void server.listen(0, "localhost", listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://localhost:${(server.address() as AddressInfo).port}/mcp`;
}
