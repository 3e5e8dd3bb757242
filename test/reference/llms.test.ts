// /llms.txt: in the form of llmstxt.org, complete, and true: what its lines say is run.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { useService } from "../support/client.ts";

const service = useService();
let text: string;

beforeAll(async () => {
  ({ text } = await service().rest("/llms.txt"));
});

test("starts with the name and a summary, and each section is a list of links", () => {
  const lines = text.split("\n");
  expect(lines[0]).toBe("# Records");
  expect(lines[2]).toMatch(/^> \S/);
  const [, ...sections] = text.split(/^## /m);
  expect(sections.map((section) => section.slice(0, section.indexOf("\n")))).toEqual([
    "Endpoints",
    "Documents",
    "Optional",
  ]);
  for (const section of sections) {
    for (const line of section
      .split("\n")
      .slice(1)
      .filter((one) => one !== ""))
      expect(line).toMatch(/^- \[[^\]]+\]\(http:\/\/localhost:\d+\/[^)]*\): \S/);
  }
});

test("has every operation of the document with its summary, and every status that they list", async () => {
  const { body } = await service().rest("/openapi.json");
  const operations = Object.entries(
    body.paths as Record<string, Record<string, { summary: string; responses: object }>>,
  ).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, ...operation })),
  );
  expect(operations.length).toBe(15);
  for (const { name, summary } of operations)
    expect(text.split("\n").find((line) => line.startsWith(`- [${name}](`))).toContain(summary);
  for (const status of ["401", "403", "404", "409", "422", "429", "503"])
    expect(text).toMatch(new RegExp(`^\\| ${status} \\| \\S`, "m"));
});

test("has the address of the MCP surface if there is one", async () => {
  const elsewhere = await service().another({
    BASE_URL: "https://records.example",
    MCP_URL: "https://mcp.records.example/mcp",
  });
  try {
    const other = (await elsewhere.rest("/llms.txt")).text;
    expect(other).toContain("[MCP](https://mcp.records.example/mcp)");
    expect(other).toContain("Base URL: https://records.example\n");
    expect(other).not.toContain("localhost");
  } finally {
    await elsewhere.stop();
  }
});

test("every curl line in it works unchanged", async () => {
  const account = await service().account();
  const contact = (await service().rest("/v1/contacts", { key: account.key, body: { full_name: "Cora Line" } })).body
    .data.id as string;
  const ingested = await service().internalCall("records.ingest.v1.IngestService/UpsertSessions", {
    account_id: account.id,
    sessions: [{ external_id: "one", title: "Kickoff" }],
  });
  const session = ingested.body.results[0].id as string;
  const lines = [...text.matchAll(/^- .*?`(curl .*)`$/gm)].map(([, line]) => line ?? "");
  expect(lines.length).toBe(10);
  const statuses: string[] = [];
  for (const line of lines) {
    // curl leaves a header out if a program that would print its value is missing.
    expect(line).not.toContain("$(");
    const script = line.replace(/^curl/, "curl -s -o /dev/null -w '%{http_code}'");
    const { stdout } = await promisify(execFile)("bash", ["-c", script], {
      env: { PATH: process.env["PATH"], KEY: account.key, CONTACT_ID: contact, SESSION_ID: session },
    });
    statuses.push(stdout);
  }
  expect([...statuses].sort()).toEqual(["200", "200", "200", "200", "200", "200", "200", "201", "201", "409"].sort());
});
