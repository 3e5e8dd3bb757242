// Params that a method rejects: -32602 with a readable message, in every revision, never the validator's own.
import type { Transport } from "@modelcontextprotocol/server";
import { describe, expect, test } from "vitest";
import { useSignInFixture } from "../../fixtures/sign-in/fixture.ts";
import { CheckedServer } from "../../../src/mcp/checked-server.ts";
import { old, useHolder } from "./eras.ts";
import { headersFor, post, revisions } from "./set-up.ts";

const fixture = useSignInFixture();
const { holder, send } = useHolder(fixture);

const ref = 'ref: must be {"type": "ref/prompt", "name": …} or {"type": "ref/resource", "uri": …}';
const argument = "argument: must be an object with the strings name and value";

describe.each(revisions)("in the revision %s", (revision) => {
  test.each([
    ["prompts/get", {}, "name: must be a string"],
    [
      "prompts/get",
      { name: "catch_up", arguments: { topic: 7 } },
      "arguments: must be an object whose values are strings",
    ],
    ["prompts/get", { name: "catch_up", arguments: ["tea"] }, "arguments: must be an object whose values are strings"],
    ["resources/read", {}, "uri: must be a string"],
    ["resources/read", { uri: 7 }, "uri: must be a string"],
    ["completion/complete", {}, `${ref}; ${argument}`],
    ["completion/complete", { ref: { type: "ref/tool", name: "search" }, argument: { name: "query", value: "" } }, ref],
    ["completion/complete", { ref: { type: "ref/prompt", name: "catch_up" }, argument: { name: "topic" } }, argument],
    ["tools/call", {}, "name: must be a string"],
    ["tools/call", { name: "search", arguments: [{}] }, "arguments: must be an object"],
    ["tools/call", { name: "search", arguments: "ann" }, "arguments: must be an object"],
    ["tools/list", { cursor: "abc" }, "cursor: is not valid: the list is one page"],
    ["prompts/list", { cursor: "abc" }, "cursor: is not valid: the list is one page"],
    ["resources/list", { cursor: "abc" }, "cursor: is not valid: the list is one page"],
    ["resources/templates/list", { cursor: "abc" }, "cursor: is not valid: the list is one page"],
    ["tools/list", { cursor: 7 }, "cursor: is not valid: the list is one page"],
  ])("%s with %j is -32602, case %# [MCP-25]", async (method, params, message) => {
    const { body } = await send(revision, method, params);
    // The newest revision compares the name with a header first, and rejects one that is not there.
    if (revision === "2026-07-28" && body.error.code === -32_020) return;
    expect(body.error).toEqual({ code: -32_602, message });
  });

  test("an empty cursor begins a list [MCP-25]", async () => {
    const { body } = await send(revision, "tools/list", { cursor: "" });
    expect(body.result.tools).not.toEqual([]);
  });

  test("JSON of more levels than any interface accepts is 422, without a word of the inside [MCP-25] [ERR-08]", async () => {
    const deep = JSON.parse(`${"[".repeat(1_000)}${"]".repeat(1_000)}`) as unknown;
    const { body, status } = await send(revision, "tools/list", { deep });
    const message = "the body must have at most 100 levels of arrays and objects";
    expect([status, body]).toMatchObject([422, { jsonrpc: "2.0", id: null, error: { code: "422", message } }]);
  });

  test("a body of more than 1,000 values is 422, and one of fewer is read [MCP-25] [ERR-08]", async () => {
    const names = (count: number): object =>
      Object.fromEntries(Array.from({ length: count }, (_, turn) => [`n${turn}`, turn]));
    const found = await send(revision, "tools/call", { name: "search", arguments: names(900) });
    expect(found.body.result.content[0].text).toMatch(/^n0: must be left out/);
    const { body, status } = await send(revision, "tools/call", { name: "search", arguments: names(1_000) });
    expect([status, body.error.message]).toEqual([422, "the body must have at most 1000 values"]);
  });

  test.each(["", [], "[]", "{}", '{"query":null}'])("%j as arguments is an empty object [MCP-15]", async (given) => {
    const { body } = await send(revision, "tools/call", { name: "list_sessions", arguments: given });
    expect(body.result.structuredContent.data).toEqual([]);
  });

  test("an object in a string is read as arguments, within the bounds of a body [MCP-15] [MCP-25]", async () => {
    const given = { name: "get_contact", arguments: '{"contact_id":"x","page":2}' };
    const { body } = await send(revision, "tools/call", given);
    expect(body.result.content[0].text).toMatch(/^page: must be left out.*; contact_id: must be a valid UUID/);
    const deep = `{"contact_id":${"[".repeat(1_000)}${"]".repeat(1_000)}}`;
    expect((await send(revision, "tools/call", { name: "get_contact", arguments: deep })).status).toBe(422);
  });

  test("null for the arguments, or for one of them, counts as omitted [MCP-15] [MCP-25]", async () => {
    const tool = await send(revision, "tools/call", { name: "list_sessions", arguments: null });
    expect(tool.body.result.structuredContent.data).toEqual([]);
    const required = await send(revision, "tools/call", { name: "get_contact", arguments: null });
    expect(required.body.result.content[0].text).toBe("contact_id: is required");
    const prompt = await send(revision, "prompts/get", {
      name: "catch_up",
      arguments: { topic: "budget", more: null },
    });
    expect(prompt.body.result.messages).toHaveLength(1);
  });
});

test.each([
  [{ params: [] }, 200, -32_602, "params: must be an object"],
  [{ params: "ann" }, 200, -32_602, "params: must be an object"],
  [{ params: { _meta: [] } }, 200, -32_602, "params._meta: must be an object"],
  [
    { params: { _meta: { progressToken: true } } },
    200,
    -32_602,
    "params._meta.progressToken: must be a string or a whole number",
  ],
  [{ jsonrpc: "1.0", method: 7 }, 400, -32_600, 'jsonrpc: must be "2.0"; method: must be a string'],
])("a message with %j is rejected with the name of the member [MCP-25]", async (members, status, code, text) => {
  const request = { jsonrpc: "2.0", id: 1, method: "tools/list", ...members };
  for (const revision of revisions) {
    const sent = { token: holder().token, headers: headersFor(revision, "tools/list") };
    const response = await post(holder().url, JSON.stringify(request), sent);
    expect([response.status, response.body]).toEqual([
      status,
      { jsonrpc: "2.0", id: 1, error: { code, message: text } },
    ]);
  }
});

test("a malformed id, or a malformed message in a batch, is rejected without an id [MCP-25]", async () => {
  for (const [sent, message] of [
    [{ jsonrpc: "2.0", id: true, method: "ping" }, "id: must be a string or a whole number"],
    [[{ jsonrpc: "2.0", id: 1, method: "ping", params: [] }], "params: must be an object"],
  ] as const) {
    const { status, body } = await post(holder().url, JSON.stringify(sent), { token: holder().token });
    expect([status, body]).toEqual([400, { jsonrpc: "2.0", id: null, error: { code: -32_600, message } }]);
  }
});

test.each(old)(
  "%s: null members of a message, and those of no protocol, count as omitted [MCP-25]",
  async (revision) => {
    const sent = { token: holder().token, headers: headersFor(revision, "tools/list") };
    const request = { jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: null }, error: null, trace: "a" };
    const { body } = await post(holder().url, JSON.stringify(request), sent);
    expect(body.result.tools).not.toEqual([]);
    const notification = { jsonrpc: "2.0", id: null, method: "notifications/initialized" };
    expect((await post(holder().url, JSON.stringify(notification), sent)).status).toBe(202);
  },
);

test.each(old)("%s: what a client says of itself never prevents the handshake [MCP-25]", async (revision) => {
  const { body } = await send(revision, "initialize", {
    protocolVersion: revision,
    capabilities: { roots: true, experimental: { stateless: true } },
    clientInfo: { name: "a client", version: "1", icons: "none" },
  });
  expect(body.result.protocolVersion).toBe(revision);
});

test.each(old)("%s: a request without params is -32602 as well [MCP-25]", async (revision) => {
  for (const [method, message] of [
    ["prompts/get", "name: must be a string"],
    [
      "initialize",
      "protocolVersion: must be a string; capabilities: must be an object; clientInfo: must be an object with the strings name and version",
    ],
  ] as const) {
    const { body } = await post(holder().url, JSON.stringify({ jsonrpc: "2.0", id: 1, method }), {
      token: holder().token,
      headers: headersFor(revision, method),
    });
    expect([method, body.error]).toEqual([method, { code: -32_602, message }]);
  }
});

test("an unexpected error in a handler is not reported as invalid params [MCP-25, ERR-07]", async () => {
  const server = new CheckedServer({ name: "records", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => {
    throw new TypeError("tools is not iterable");
  });
  const sent = new Promise<unknown>((resolve) => {
    const transport: Transport = {
      start: async () => undefined,
      close: async () => undefined,
      send: async (message) => resolve(message),
    };
    void server
      .connect(transport)
      .then(() => transport.onmessage?.({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }));
  });
  expect(await sent).toMatchObject({ id: 1, error: { code: -32_603 } });
});
