// What a user sees on a terminal: a line for each request, and a banner with everything needed to sign in.
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { bannerLines } from "../../src/app/banner.ts";
import { readableLine } from "../../src/log/readable-log.ts";

const time = new Date(2026, 0, 31, 9, 30, 5).toISOString();
const request = {
  level: 30,
  time,
  msg: "request",
  id: "an-id",
  address: "127.0.0.1",
  method: "GET",
  status: 200,
  ms: 10.8,
};

const lineOf = (line: object): string | undefined => readableLine(JSON.stringify(line), false);

test("a request is one line with the time, the status, the method, the route and the duration", () => {
  expect(lineOf({ ...request, wire: "rest", route: "/v1/contacts/{contact_id}" })).toBe(
    `09:30:05  200  ${"GET      /v1/contacts/{contact_id}".padEnd(48)}     11 ms`,
  );
  expect(lineOf({ ...request, wire: "other", route: "-", status: 404 })).toContain("404  GET      (unknown path)");
  const mcp = { ...request, wire: "mcp", method: "POST", route: "/mcp", tools: "search_contacts" };
  expect(lineOf(mcp)).toContain("POST     /mcp search_contacts");
});

test("an rpc shows its name and how it failed", () => {
  const rpc = { ...request, method: "POST", route: "/records.v1.ContactService/GetContact", wire: "grpc" };
  const line = lineOf({ ...rpc, rpc: "records.v1.ContactService/GetContact", code: "not_found" });
  expect(line).toMatch(/^09:30:05 {2}200 {2}grpc +records\.v1\.ContactService\/GetContact +11 ms {2}not_found$/);
  expect(lineOf({ ...rpc, status: 503, cause: "deadline", waiting_for: "mongodb find" })).toContain(
    "deadline  waiting for mongodb find",
  );
});

test("the files of a page have no line unless they fail, or the level is debug", () => {
  const file = { ...request, wire: "page", route: "/dashboard.css" };
  expect(lineOf(file)).toBeUndefined();
  expect(lineOf({ ...file, status: 304 })).toBeUndefined();
  expect(lineOf({ ...file, status: 429 })).toContain("429  GET      /dashboard.css");
  expect(lineOf({ ...file, level: 20 })).toContain("/dashboard.css");
  expect(lineOf({ ...file, route: "/openapi.json" })).toContain("/openapi.json");
});

test("a line that is not a request is a sentence with its fields, and a warning is marked", () => {
  expect(lineOf({ level: 30, time, msg: "Redis responds" })).toBe("09:30:05  Redis responds");
  expect(lineOf({ level: 40, time, msg: "Redis is away", err: { type: "Error" } })).toBe(
    '09:30:05  warning  Redis is away  err={"type":"Error"}',
  );
});

test("colours are the only difference between the two forms", () => {
  const json = JSON.stringify({ ...request, wire: "rest", route: "/v1/health", status: 503 });
  const colored = readableLine(json, true) ?? "";
  expect(colored).not.toBe(readableLine(json, false));
  expect(stripVTControlCharacters(colored)).toBe(readableLine(json, false));
});

const users = [
  { email: "demo@example.com", password: "the-first-password", access: "read_write", enrolled: true },
  { email: "enrolled@example.com", password: "the-other-password", access: null, enrolled: true },
];
const started = {
  baseUrl: "http://localhost:8080",
  mcpUrl: "http://localhost:8080/mcp",
  internalUrl: "http://localhost:8081",
  dataDir: "/somewhere/data",
  demoKey: "rec_key",
  seconds: 1.23,
  embedded: { mongod: undefined, redis: undefined, oidc: { issuer: "" }, demo: { users, provider: { issuer: "" } } },
} as unknown as Parameters<typeof bannerLines>[0];

test("the banner has the passwords of the demo and a sign-in link only on a terminal", () => {
  const terminal = bannerLines({ ...started, onTerminal: true }).join("\n");
  expect(terminal).toContain("http://localhost:8080/sign-in");
  expect(terminal).toContain("demo@example.com      password the-first-password");
  expect(terminal).toContain("enrolled@example.com  password the-other-password");
  const kept = bannerLines({ ...started, onTerminal: false }).join("\n");
  expect(kept).toContain("the passwords are in /somewhere/data/demo.json");
  for (const { password } of users) expect(kept).not.toContain(password);
});
