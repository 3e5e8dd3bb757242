// The revisions of the protocol at the one address: what a client of each accepts, and batches.
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { http2Call } from "../../fixtures/clients/http2-call.ts";
import { useSignInFixture } from "../../fixtures/sign-in/fixture.ts";
import { old, useHolder } from "./eras.ts";
import { headersFor, message, post, revisions } from "./set-up.ts";

const fixture = useSignInFixture();
const { holder, send } = useHolder(fixture);
const both = "application/json, text/event-stream";

describe("the Accept header", () => {
  test("the newest revision responds in JSON, whatever the client accepts [MCP-02]", async () => {
    for (const accept of [both, "application/json", "*/*", undefined]) {
      const { status, headers } = await send("2026-07-28", "tools/list", {}, { Accept: accept });
      expect([status, headers.get("content-type")], accept).toEqual([200, "application/json"]);
    }
  });

  test("the other revisions return JSON to a client that accepts JSON and events, as they require [MCP-03]", async () => {
    for (const revision of old) {
      const { status, headers } = await send(revision, "tools/list", {}, { Accept: both });
      const found = [status, headers.get("content-type"), headers.get("cache-control")];
      expect(found, revision).toEqual([200, "application/json; charset=utf-8", "no-store"]);
      expect((await send(revision, "tools/list", {}, { Accept: "text/html" })).status, revision).toBe(406);
    }
  });

  test("a range that includes both types is accepted like their names, and so is a missing or an empty Accept [MCP-03]", async () => {
    for (const accept of ["*/*", "application/*, text/*;q=0.5", undefined, ""])
      expect((await send("2025-11-25", "tools/list", {}, { Accept: accept })).status, accept).toBe(200);
  });

  test("a client of the other revisions that accepts one form gets that form [MCP-03] [MCP-49]", async () => {
    const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } };
    for (const [method, params] of [
      ["tools/list", {}],
      ["initialize", hello],
    ] as const)
      for (const [accept, type] of [
        ["application/json", /^application\/json/],
        ["application/*", /^application\/json/],
        ["*/*, text/event-stream;q=0", /^application\/json/],
        ["text/event-stream", /^text\/event-stream/],
      ] as const) {
        const { status, headers, body } = await send("2025-06-18", method, params, { Accept: accept });
        expect([status, headers.get("content-type")], `${method} ${accept}`).toEqual([
          200,
          expect.stringMatching(type),
        ]);
        expect(body, `${method} ${accept}`).toMatchObject({ id: 1, result: {} });
      }
    const both = JSON.stringify([message("2025-03-26", "ping", {}, 1), message("2025-03-26", "ping", {}, "1")]);
    const batch = await post(holder().url, both, { token: holder().token, headers: { Accept: "application/json" } });
    expect(batch.body).toEqual([1, "1"].map((id) => ({ jsonrpc: "2.0", id, result: {} })));
  });

  test("a text with U+2028, which JSON need not escape, arrives whole in JSON [MCP-03]", async () => {
    const prompt = { name: "catch_up", arguments: { topic: "Zoe\u2028Line" } };
    const { body } = await send("2025-06-18", "prompts/get", prompt, { Accept: both });
    expect(body.result.messages).toHaveLength(1);
    const batch = JSON.stringify([message("2025-03-26", "ping", {}, "a\u2028b")]);
    const pong = await post(holder().url, batch, { token: holder().token, headers: { Accept: "application/json" } });
    expect(pong.body).toEqual([{ jsonrpc: "2.0", id: "a\u2028b", result: {} }]);
  });

  test("rejects a message that is not UTF-8 [MCP-03]", async () => {
    const sent = JSON.stringify(message("2025-11-25", "tools/call", { name: "search", arguments: { query: "ann??" } }));
    const bytes = Buffer.from(sent.replace("??", "\xff\xfe"), "latin1");
    const { status, body } = await post(holder().url, bytes, { token: holder().token });
    expect([status, body.error.code]).toEqual([400, -32_700]);
  });

  test("serves a request as it does in a batch of its own, which the library's handler serves [MCP-03]", async () => {
    const calls: [string, Record<string, unknown>][] = [
      ["tools/list", {}],
      ["tools/call", { name: "search", arguments: { query: "nobody" } }],
      ["tools/call", { name: "search", arguments: { query: 7, other: true } }],
      ["tools/call", { name: "create_contact" }],
      ["tools/call", { arguments: "nothing" }],
      ["resources/read", { uri: "contact://nobody" }],
      ["prompts/get", { name: "nothing" }],
      ["records/delete", {}],
    ];
    for (const [method, params] of calls) {
      const one = message("2025-03-26", method, params);
      const [alone, batch] = [await send("2025-03-26", method, params), JSON.stringify([one])];
      expect(alone.body, method).toEqual((await post(holder().url, batch, { token: holder().token })).body);
      expect(alone.status, method).toBe(200);
    }
  });

  test("rejects a request with an unknown version header before it is served [MCP-03]", async () => {
    const { status, body } = await send("2025-06-18", "tools/list", {}, { "MCP-Protocol-Version": "2024-01-01" });
    expect([status, body.error.code]).toEqual([400, -32_000]);
  });

  test("a batch returns the same stream of events over HTTP/2 as over HTTP/1.1, without connection headers [MCP-03]", async () => {
    const warned = vi.fn();
    process.on("warning", warned);
    onTestFinished(() => void process.off("warning", warned));
    const sent = Buffer.from(JSON.stringify([message("2025-03-26", "tools/list")]));
    const headers = {
      ":method": "POST",
      ":path": "/mcp",
      authorization: `Bearer ${holder().token}`,
      "content-type": "application/json",
      accept: both,
    };
    const response = await http2Call(fixture().base, headers, sent);
    expect([response.status, response.headers["content-type"], response.headers.connection]).toEqual([
      200,
      "text/event-stream",
      undefined,
    ]);
    expect(response.text).toContain('"name":"search_contacts"');
    expect(warned).not.toHaveBeenCalled();
  });

  test("no cache may store a response [MCP-01]", async () => {
    for (const revision of revisions)
      expect((await send(revision, "tools/list")).headers.get("cache-control"), revision).toMatch(/no-(store|cache)/);
  });
});

describe("batches", () => {
  const batch = (messages: unknown[], headers: Record<string, string> = {}) =>
    post(holder().url, JSON.stringify(messages), { token: holder().token, headers });
  const calls = (count: number) =>
    Array.from({ length: count }, (_, id) =>
      message("2025-03-26", "tools/call", { name: "search", arguments: { query: "nobody" } }, id),
    );

  test("rejects a batch in which two requests have one id [MCP-03]", async () => {
    const twice = [message("2025-03-26", "ping"), message("2025-03-26", "tools/list")];
    const { status, body } = await batch(twice);
    expect([status, body.id, body.error.code]).toEqual([400, null, -32_600]);
    expect(body.error.message).toMatch(/^Two requests of the batch have the id 1\./);
  });

  test("serves a batch of 2025-03-26 completely [MCP-03]", async () => {
    const { status, text } = await batch(calls(3));
    expect(status).toBe(200);
    expect(responsesIn(text).map(({ id, result }) => [id, result?.structuredContent])).toEqual(
      [0, 1, 2].map((id) => [id, { results: [], hint: expect.stringMatching(/^Nothing was found/) }]),
    );
  });

  test("a batch makes at most 10 calls [MCP-13]", async () => {
    const { text } = await batch(calls(12));
    const responses = responsesIn(text);
    expect(responses).toHaveLength(12);
    expect(responses.filter(({ result }) => result !== undefined)).toHaveLength(10);
    expect(responses.flatMap(({ error }) => error ?? [])).toEqual(
      Array(2).fill({
        code: -32_600,
        message: "A batch can contain at most 10 calls. Send the others in another batch.",
      }),
    );
  });

  test("a batch that cancels its own calls gets its responses, and ends [MCP-03, MCP-13]", async () => {
    const cancelled = calls(2).map(({ id: requestId }) => ({
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId },
    }));
    const { status, text } = await batch([...calls(2), ...cancelled]);
    expect([status, responsesIn(text).map(({ id }) => id)]).toEqual([200, [0, 1]]);
    expect((await batch(cancelled)).status).toBe(202);
  });

  test("the newest revision has no batches [MCP-02]", async () => {
    const { status, body } = await batch([message("2026-07-28", "tools/list")], headersFor("2026-07-28", "tools/list"));
    expect([status, body.error.code]).toEqual([400, -32_600]);
  });
});

interface RpcMessage {
  readonly id: number;
  readonly result?: { readonly structuredContent: unknown };
  readonly error?: unknown;
}

/** The responses in a stream of events, by their ids. */
function responsesIn(stream: string): RpcMessage[] {
  const responses = stream
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .flatMap((line) => JSON.parse(line.slice(6)) as RpcMessage | RpcMessage[]);
  return responses.sort((one, other) => one.id - other.id);
}
