// Requests whose shape is hard on whoever reads them: nested, repeated, numerous, compressed beyond measure.
import { gzipSync } from "node:zlib";
import type { Where } from "../isolation/operations.ts";
import type { Person } from "../isolation/people.ts";
import { send, sendGrpc } from "../isolation/raw.ts";
import { exchange } from "../../test/http/raw.ts";
import type { Hard } from "./costly.ts";
import { messageOf } from "./costly.ts";

const limit = 262_000;
const depth = 100_000;

/** All of them. */
export function hardShapes({ base }: Where, { key, token, ids }: Person): Hard[] {
  const by = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const connect = (name: string, body: string | Uint8Array, headers: Record<string, string> = {}) => send(base, "POST", `/records.v1.ContactService/${name}`, { ...by, ...headers }, body);
  const mcp = (body: string) => send(base, "POST", "/mcp", { "content-type": "application/json", accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-03-26", authorization: `Bearer ${token}` }, body);
  const bodies: [string, string][] = [
    ["lists in lists", `{"full_name":${"[".repeat(depth)}${"]".repeat(depth)}}`],
    ["objects in objects", `{"full_name":${'{"a":'.repeat(40_000)}1${"}".repeat(40_000)}}`],
    ["lists that do not end", `{"full_name":${"[".repeat(depth)}`],
    ["duplicate names in a deep place", `{"full_name":${'{"a":'.repeat(20_000)}{${repeated('"b":1', 10_000)}}${"}".repeat(20_000)}}`],
    ["numbers beyond all numbers", `{"full_name":1e400,"email":-1e400,"phone":${"9".repeat(limit - 60)}}`],
    ["a fraction without an end", `{"full_name":0.${"0".repeat(limit - 40)}1}`],
    ["one name many times", `{${repeated('"full_name":"a"', 16_000)}}`],
    ["many unknown names", `{${Array.from({ length: 20_000 }, (_, at) => `"n${at}":1`).join(",")}}`],
    ["__proto__ as a name", `{"__proto__":{"full_name":"a"},"constructor":{"prototype":{"full_name":"b"}},"full_name":"c"}`],
    ["many lone surrogates", `{${repeated('"\\ud800":"\\ud800"', 12_000)}}`],
    ["blanks", `{"full_name":${" ".repeat(limit)}"a"}`],
    ["escapes", `{"full_name":"${"\\u0061".repeat(43_000)}"}`],
  ];
  const bomb = gzipSync(Buffer.alloc(64 * 1_024 * 1_024), { level: 9 });
  const { path, bytes } = messageOf("CreateContact", { full_name: "a" });
  const packed = gzipSync(bytes);
  const batch = `[${repeated(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "search_notes", arguments: { query: "ab" } } }), 2_000)}]`;
  return [
    ...bodies.flatMap(([name, body]): Hard[] => [
      { name: `REST: ${name}`, send: () => send(base, "POST", "/v1/contacts", by, body) },
      { name: `Connect: ${name}`, send: () => connect("CreateContact", body) },
      { name: `MCP: ${name}`, send: () => mcp(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":${body}}}`) },
    ]),
    { name: "REST: 1,000 query parameters", send: () => send(base, "GET", `/v1/sessions?${repeated("a=%25", 1_000, "&")}`, by) },
    { name: "REST: one query parameter 1,000 times", send: () => send(base, "GET", `/v1/sessions?${repeated("limit=1", 1_000, "&")}`, by) },
    { name: "REST: 10,000 headers", send: () => raw(base, `GET /v1/sessions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n${"a:\r\n".repeat(10_000)}\r\n`) },
    { name: "REST: as many headers as fit", send: () => raw(base, `GET /v1/sessions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n${"a:\r\n".repeat(3_900)}\r\n`) },
    { name: "REST: a body compressed beyond measure", send: () => send(base, "POST", "/v1/contacts", { ...by, "content-encoding": "gzip" }, bomb.subarray(0, limit)) },
    { name: "Connect: a message compressed beyond measure", send: () => connect("CreateContact", bomb, { "content-type": "application/proto", "content-encoding": "gzip" }) },
    { name: "Connect: a message compressed twice", send: () => connect("CreateContact", gzipSync(packed), { "content-type": "application/proto", "content-encoding": "gzip" }) },
    { name: "gRPC: a message compressed beyond measure", send: () => sendGrpc(base, path, bomb, { authorization: `Bearer ${key}`, "grpc-encoding": "gzip" }) },
    { name: "gRPC-Web: a compressed message beyond measure", send: () => send(base, "POST", `/${path}`, { authorization: `Bearer ${key}`, "content-type": "application/grpc-web+proto", "grpc-encoding": "gzip" }, enveloped(bomb)) },
    { name: "REST: a chunked body of single bytes", inParts: true, send: () => raw(base, `POST /v1/contacts HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${"1\r\n \r\n".repeat(250_000)}0\r\n\r\n`) },
    { name: "MCP: a batch of 2,000 calls", send: () => mcp(batch.length > limit ? `${batch.slice(0, batch.lastIndexOf("},{", limit - 1) + 1)}]` : batch) },
    { name: "MCP: 4 megabytes", send: () => mcp(`{"jsonrpc":"2.0","id":1,"method":"${"a".repeat(4_000_000)}"}`) },
    { name: "REST: 4 megabytes", send: () => send(base, "POST", `/v1/contacts/${ids.contact}/notes`, by, `{"content":"${"a".repeat(4_000_000)}"}`) },
  ];
}

async function raw(base: string, bytes: string): Promise<{ readonly status: number }> {
  const { answers } = await exchange(base, bytes, 15_000);
  return { status: answers[0]?.status ?? 0 };
}

function repeated(part: string, times: number, between = ","): string {
  return Array<string>(times).fill(part).join(between);
}

function enveloped(message: Uint8Array): Uint8Array {
  const head = Buffer.alloc(5);
  head.writeUInt8(1, 0);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}
