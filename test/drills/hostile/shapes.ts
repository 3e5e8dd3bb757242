// Requests with expensive shapes: nested, repeated, numerous or highly compressed.
import { gzipSync } from "node:zlib";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { exchange } from "../../fixtures/clients/raw.ts";
import type { Where } from "../isolation/operations.ts";
import type { User } from "../isolation/users.ts";
import { send, sendHttp2 } from "../isolation/raw.ts";
import type { Case } from "./cases.ts";
import { longLists } from "./long-lists.ts";
import type { Status } from "./wire.ts";

const limit = 262_000;
const json = "application/json";

/** Bodies for a share of the full length. */
const bodies: readonly (readonly [name: string, write: (share: number) => string])[] = [
  ["lists in lists", (share) => `{"full_name":${nested("[", "", "]", 100_000 * share)}}`],
  ["objects in objects", (share) => `{"full_name":${nested('{"a":', "1", "}", 40_000 * share)}}`],
  ["unclosed lists", (share) => `{"full_name":${nested("[", "", "", 100_000 * share)}`],
  [
    "deeply nested duplicate names",
    (share) => `{"full_name":${nested('{"a":', `{${repeated('"b":1', 10_000 * share)}}`, "}", 20_000 * share)}}`,
  ],
  ["numbers out of range", (share) => `{"full_name":1e400,"email":-1e400,"phone":${"9".repeat((limit - 60) * share)}}`],
  ["an endless fraction", (share) => `{"full_name":0.${"0".repeat((limit - 40) * share)}1}`],
  ["one repeated name", (share) => `{${repeated('"full_name":"a"', 16_000 * share)}}`],
  ["many unknown names", (share) => `{${Array.from({ length: 20_000 * share }, (_, at) => `"n${at}":1`).join(",")}}`],
  [
    "many unknown names twice",
    (share) => `{${repeated(Array.from({ length: 10_000 * share }, (_, at) => `"n${at}":1`).join(","), 2)}}`,
  ],
  [
    "__proto__ as a name",
    () => `{"__proto__":{"full_name":"a"},"constructor":{"prototype":{"full_name":"b"}},"full_name":"c"}`,
  ],
  ["many lone surrogates", (share) => `{${repeated('"\\ud800":"\\ud800"', 12_000 * share)}}`],
  ["many numbers", (share) => `{"full_name":[${repeated("1", 130_000 * share)}]}`],
  ["many empty objects", (share) => `{"full_name":[${repeated("{}", 87_000 * share)}]}`],
  ["spaces", (share) => `{"full_name":${" ".repeat(limit * share)}"a"}`],
  ["escapes", (share) => `{"full_name":"${"\\u0061".repeat(43_000 * share)}"}`],
];

export function hardShapes(where: Where, user: User): Case[] {
  const { base } = where;
  const { key, token, ids } = user;
  const by = { authorization: `Bearer ${key}`, "content-type": json };
  const create = "/records.v1.ContactService/CreateContact";
  const connect = (body: string | Uint8Array, headers: Record<string, string> = {}): Promise<Status> =>
    send(base, "POST", create, { ...by, ...headers }, body);
  const mcpHeaders = {
    "content-type": json,
    accept: `${json}, text/event-stream`,
    "mcp-protocol-version": "2025-03-26",
    authorization: `Bearer ${token}`,
  };
  const mcp = (body: string): Promise<Status> => send(base, "POST", "/mcp", mcpHeaders, body);
  const head = `Host: localhost\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n`;
  const get = (path: string): Promise<Status> => send(base, "GET", path, by);
  const fixed = (name: string, work: () => Promise<Status>): Case => ({ name, send: work });
  const gzip = { "content-encoding": "gzip" };
  const bomb = gzipSync(Buffer.alloc(64 * 1_024 * 1_024), { level: 9 });
  const grpcHeaders = { authorization: `Bearer ${key}`, "grpc-encoding": "gzip" };
  const call = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "search_notes", arguments: { query: "ab" } },
  };
  return [
    ...longLists(where, user),
    ...bodies.flatMap(([name, write]): Case[] => [
      { name: `REST: ${name}`, send: (share) => send(base, "POST", "/v1/contacts", by, write(share)) },
      { name: `Connect: ${name}`, send: (share) => connect(write(share)) },
      {
        name: `MCP: ${name}`,
        send: (share) =>
          mcp(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":${write(share)}}}`),
      },
    ]),
    {
      name: "REST: 1,000 query parameters",
      send: (share) => get(`/v1/sessions?${repeated("a=%25", 1_000 * share, "&")}`),
    },
    {
      name: "REST: one query parameter repeated 1,000 times",
      send: (share) => get(`/v1/sessions?${repeated("limit=1", 1_000 * share, "&")}`),
    },
    fixed("REST: 10,000 headers", () =>
      raw(base, `GET /v1/sessions HTTP/1.1\r\n${head}${"a:\r\n".repeat(10_000)}\r\n`),
    ),
    {
      name: "REST: as many headers as fit",
      send: (share) => raw(base, `GET /v1/sessions HTTP/1.1\r\n${head}${"a:\r\n".repeat(3_900 * share)}\r\n`),
    },
    {
      name: "REST: one repeated header",
      send: (share) =>
        raw(base, `GET /v1/sessions HTTP/1.1\r\n${head}${"accept-encoding: a\r\n".repeat(700 * share)}\r\n`),
    },
    fixed("REST: a gzip bomb", () => send(base, "POST", "/v1/contacts", { ...by, ...gzip }, bomb.subarray(0, limit))),
    fixed("Connect: a gzip bomb", () => connect(bomb, { "content-type": "application/proto", ...gzip })),
    fixed("gRPC: a gzip bomb", () => {
      const headers = { ...grpcHeaders, "content-type": "application/grpc", te: "trailers" };
      return sendHttp2({ base, method: "POST", path: create, headers, body: encodeEnvelope(1, bomb) });
    }),
    fixed("gRPC-Web: a gzip bomb", () => {
      const headers = { ...grpcHeaders, "content-type": "application/grpc-web+proto" };
      return send(base, "POST", create, headers, encodeEnvelope(1, bomb));
    }),
    {
      name: "REST: a chunked body of single bytes",
      inParts: true,
      send: (share) =>
        raw(
          base,
          `POST /v1/contacts HTTP/1.1\r\n${head}Content-Type: ${json}\r\nTransfer-Encoding: chunked\r\n\r\n` +
            `${"1\r\n \r\n".repeat(250_000 * share)}0\r\n\r\n`,
        ),
    },
    {
      name: "MCP: a batch of as many calls as fit",
      send: (share) => mcp(`[${repeated(JSON.stringify(call), 2_000 * share)}]`.slice(0, limit)),
    },
    { name: "MCP: a batch of 1,000 calls", send: (share) => mcp(`[${repeated(JSON.stringify(call), 1_000 * share)}]`) },
    {
      name: "MCP: a search for as many words as fit",
      send: (share) => {
        const query = `ann ${Array.from({ length: 35_000 * share }, (_, at) => `w${at}`).join(" ")}`;
        return mcp(JSON.stringify({ ...call, params: { name: "search", arguments: { query } } }));
      },
    },
    {
      name: "MCP: as many capabilities as are accepted",
      send: (share) => {
        const experimental = Object.fromEntries(Array.from({ length: 900 * share }, (_, at) => [`n${at}`, at]));
        const clientInfo = { name: "a", version: "1" };
        const params = { protocolVersion: "2025-03-26", capabilities: { experimental }, clientInfo };
        return mcp(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }));
      },
    },
    {
      name: "MCP: 4 megabytes",
      send: (share) => mcp(`{"jsonrpc":"2.0","id":1,"method":"${"a".repeat(4_000_000 * share)}"}`),
    },
    {
      name: "REST: 4 megabytes",
      send: (share) =>
        send(base, "POST", `/v1/contacts/${ids.contact}/notes`, by, `{"content":"${"a".repeat(4_000_000 * share)}"}`),
    },
  ];
}

async function raw(base: string, bytes: string): Promise<Status> {
  const { responses } = await exchange(base, bytes, 15_000);
  return { status: responses[0]?.status ?? 0 };
}

function nested(open: string, inside: string, close: string, depth: number): string {
  return open.repeat(depth) + inside + close.repeat(depth);
}

function repeated(part: string, times: number, between = ","): string {
  return Array<string>(Math.floor(times)).fill(part).join(between);
}
