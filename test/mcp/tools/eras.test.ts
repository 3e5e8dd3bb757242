// The revisions of the protocol at the one address: how each begins, and how each is rejected.
import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { useSignInFixture } from "../../fixtures/sign-in/fixture.ts";
import { old, useHolder } from "./eras.ts";
import { connect, headersFor, message, post, request, revisions } from "./set-up.ts";

const fixture = useSignInFixture();
const { holder, send } = useHolder(fixture);

const named = (protocolVersion: string): Record<string, unknown> => ({
  protocolVersion,
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
});

describe("the first request", () => {
  test("the newest revision is discovered and called without initialize, and declares records untrusted [MCP-01] [MCP-02] [UNT-03]", async () => {
    const discovered = await send("2026-07-28", "server/discover");
    expect(discovered.status).toBe(200);
    expect(discovered.headers.get("content-type")).toBe("application/json");
    expect(discovered.body).toMatchObject({
      jsonrpc: "2.0",
      id: 1,
      result: {
        resultType: "complete",
        supportedVersions: ["2026-07-28"],
        capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
        cacheScope: "private",
        ttlMs: 300_000,
      },
    });
    expect(discovered.body.result.instructions).toMatch(
      /^Records keeps .*untrusted data .* never carries instructions/s,
    );
    const listed = await send("2026-07-28", "tools/list");
    expect(listed.body.result).toMatchObject({ resultType: "complete", cacheScope: "private", ttlMs: 300_000 });
    expect(listed.body.result.tools).toHaveLength(10);
  });

  test.each(old)(
    "%s begins with initialize at the same address, and needs no session afterwards [MCP-01] [MCP-03]",
    async (revision) => {
      const response = await send(revision, "initialize", named(revision));
      expect(response.status).toBe(200);
      expect(response.headers.get("mcp-session-id")).toBeNull();
      expect(response.body.result).toMatchObject({
        protocolVersion: revision,
        capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
        serverInfo: { name: "records", title: "Records" },
      });
      expect(response.body.result.instructions).toMatch(
        /^Records keeps .*untrusted data .* never carries instructions/s,
      );
      expect((await send(revision, "ping")).body).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
      const { tools, ...others } = (await send(revision, "tools/list")).body.result;
      expect(tools).toHaveLength(10);
      expect(others).toEqual({});
    },
  );

  test("initialize for an unknown revision returns a known one [MCP-03]", async () => {
    const { body } = await send("2025-11-25", "initialize", named("2019-01-01"));
    expect(body.result.protocolVersion).toBe("2025-11-25");
  });

  test("an instance serves a client that another instance has initialized [MCP-01]", async () => {
    const other = await fixture().service.another();
    onTestFinished(() => other.stop());
    const there = { url: `${other.base}/mcp`, token: holder().token };
    for (const revision of revisions) {
      if (revision !== "2026-07-28") await send(revision, "initialize", named(revision));
      const { status, body } = await request(there, revision, "tools/call", { name: "list_sessions", arguments: {} });
      expect(status, revision).toBe(200);
      expect(body.result.structuredContent, revision).toEqual({
        data: [],
        pagination: { limit: 10, offset: 0, has_more: false, next_offset: null },
        hint: expect.any(String) as unknown,
      });
    }
  });

  test("the official client agrees on the newest revision if it requests it, and otherwise on the previous one [MCP-02] [MCP-03]", async () => {
    for (const [modern, revision] of [
      [true, "2026-07-28"],
      [false, "2025-11-25"],
    ] as const) {
      const client = await connect(holder(), modern);
      expect(client.getNegotiatedProtocolVersion()).toBe(revision);
      expect(client.getServerVersion()).toMatchObject({ name: "records", title: "Records" });
      expect((await client.listTools()).tools).toHaveLength(10);
      expect((await client.callTool({ name: "search", arguments: { query: "nobody" } })).structuredContent).toEqual({
        results: [],
        hint: expect.stringMatching(/^Nothing was found/),
      });
    }
  });

  test.each(revisions)("accepts a notification of %s with 202 and no body [MCP-01]", async (revision) => {
    const text = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });
    const { status, text: response } = await post(holder().url, text, {
      token: holder().token,
      headers: headersFor(revision, "notifications/initialized"),
    });
    expect([status, response]).toEqual([202, ""]);
  });
});

describe("a rejected request", () => {
  test("an unknown method is 404 in the newest revision and 200 in the others, with -32601 in all [MCP-02] [MCP-03]", async () => {
    for (const revision of revisions) {
      const { status, body } = await send(revision, "records/delete");
      expect(status, revision).toBe(revision === "2026-07-28" ? 404 : 200);
      expect(body, revision).toMatchObject({ jsonrpc: "2.0", id: 1, error: { code: -32_601 } });
    }
  });

  test("the newest revision does not have the removed ping, and the others do not have the new server/discover [MCP-02]", async () => {
    expect((await send("2026-07-28", "ping")).body.error.code).toBe(-32_601);
    for (const revision of old)
      expect((await send(revision, "server/discover")).body.error.code, revision).toBe(-32_601);
  });

  test.each(revisions)(
    "an unknown tool is an error of %s, which says where the tools are listed [MCP-06]",
    async (revision) => {
      const { body } = await send(revision, "tools/call", { name: "create_contact", arguments: {} });
      expect(body.error).toMatchObject({
        code: -32_602,
        message: "There is no tool named create_contact. Call tools/list to see the tools.",
      });
      expect(body.result).toBeUndefined();
    },
  );

  test("an unknown revision is 400, with the known ones [MCP-02]", async () => {
    const unknown = JSON.stringify(message("2026-07-28", "tools/list")).replaceAll("2026-07-28", "2031-01-01");
    const { status, body } = await post(holder().url, unknown, {
      token: holder().token,
      headers: { ...headersFor("2026-07-28", "tools/list"), "MCP-Protocol-Version": "2031-01-01" },
    });
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: -32_022, data: { supported: ["2026-07-28"], requested: "2031-01-01" } });
  });

  test.each([
    ["no revision", { "MCP-Protocol-Version": undefined }],
    ["another revision", { "MCP-Protocol-Version": "2025-11-25" }],
    ["no method", { "Mcp-Method": undefined }],
    ["another method", { "Mcp-Method": "prompts/get" }],
    ["no name", { "Mcp-Name": undefined }],
    ["another name", { "Mcp-Name": "fetch" }],
  ])("in the newest revision %s in the headers than in the body is 400 with -32020 [MCP-02]", async (_, headers) => {
    const { status, body } = await send(
      "2026-07-28",
      "tools/call",
      { name: "search", arguments: { query: "ann" } },
      headers,
    );
    expect(status).toBe(400);
    expect(body).toMatchObject({ id: 1, error: { code: -32_020 } });
  });

  test("the other revisions ignore those headers [MCP-03]", async () => {
    for (const revision of old) {
      const { body } = await send(
        revision,
        "tools/call",
        { name: "search", arguments: { query: "ann" } },
        { "Mcp-Method": undefined, "Mcp-Name": "fetch" },
      );
      expect(body.result.structuredContent, revision).toEqual({
        results: [],
        hint: expect.stringMatching(/^Nothing was found/),
      });
    }
  });

  test.each(["{nope", "", "[", "\u0000"])("a body that is not JSON is 400 with -32700: %j [MCP-01]", async (text) => {
    const { status, body } = await post(holder().url, text, { token: holder().token });
    expect([status, body.error.code]).toEqual([400, -32_700]);
  });

  test.each(["7", "null", '"text"', "{}", '{"jsonrpc":"1.0","id":1,"method":"ping"}'])(
    "JSON that is not a message is 400: %s [MCP-01]",
    async (text) => {
      const { status, body } = await post(holder().url, text, { token: holder().token });
      expect(status).toBe(400);
      expect(body.error.code).toBeLessThan(0);
    },
  );

  test("a body over 256 KiB is 413, and one of that size is accepted [MCP-01]", async () => {
    const around = JSON.stringify(message("2025-11-25", "ping", { filling: "" })).length;
    const sized = (size: number) =>
      post(holder().url, JSON.stringify(message("2025-11-25", "ping", { filling: "x".repeat(size - around) })), {
        token: holder().token,
      });
    expect((await sized(262_144)).body.result).toEqual({});
    expect((await sized(262_145)).status).toBe(413);
    expect((await sized(1_000_000)).status).toBe(413);
  });

  test("a compressed body is 415, with the reason [MCP-01]", async () => {
    const headers = { "Content-Encoding": "gzip" };
    const { status, body } = await post(holder().url, gzipSync("{}"), { token: holder().token, headers });
    expect([status, body.error.message]).toEqual([
      415,
      "Content-Encoding is not supported: send the body uncompressed",
    ]);
  });

  test("a body with another Content-Type than JSON is 415 [MCP-01]", async () => {
    for (const revision of revisions)
      expect((await send(revision, "tools/list", {}, { "Content-Type": "text/plain" })).status, revision).toBe(415);
  });
});
