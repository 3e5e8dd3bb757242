// A client that keeps sending after its response: every surface of both listeners ends it in the same way.
import type { ClientHttp2Stream } from "node:http2";
import { connect as connectHttp2 } from "node:http2";
import type { Socket } from "node:net";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestAccount } from "../fixtures/service/service.ts";
import { useSignInFixture } from "../fixtures/sign-in/fixture.ts";

const fixture = useSignInFixture();
let owner: TestAccount;
const opened: { destroy(): void }[] = [];

beforeAll(async () => {
  owner = await fixture().service.account();
});
afterAll(() => {
  for (const connection of opened) connection.destroy();
});

type Name = "base" | "internal";
type Unread = [surface: string, listener: Name, request: `${string} ${string}`, type: string, status: number];
const json = "application/json";
const form = "application/x-www-form-urlencoded";
const health = "/grpc.health.v1.Health/Check";
const create = "/records.v1.ContactService/CreateContact";
const surfaces: Unread[] = [
  ["a read over REST", "base", "GET /v1/health", "", 200],
  ["a write over REST without a key", "base", "POST /v1/contacts", json, 401],
  ["a path of /v1 that does not exist", "base", "POST /v1/nothing", json, 404],
  ["a path that does not exist", "base", "POST /nothing", json, 404],
  ["a document", "base", "GET /openapi.json", "", 200],
  ["an rpc without a key", "base", `POST ${create}`, json, 401],
  ["an rpc with another method", "base", `PUT ${create}`, json, 405],
  ["MCP without a token", "base", "POST /mcp", json, 401],
  ["a page of the dashboard", "base", "GET /", "", 200],
  ["an action of the dashboard", "base", "POST /sign-out", form, 403],
  ["an operation of the dashboard without a session", "base", "POST /v1/api-key", json, 401],
  ["an internal path that does not exist", "internal", "POST /nothing", "", 404],
  ["the metrics", "internal", "GET /metrics", "", 200],
  ["the readiness", "internal", "GET /readyz", "", 200],
  ["an internal rpc without a token", "internal", "POST /records.ingest.v1.IngestService/UpsertContacts", json, 401],
  ["a message that is too large", "internal", `POST ${health}`, json, 429],
  ["an open rpc with a type that is not served", "internal", `POST ${health}`, "text/plain", 415],
  ["an open rpc with a method that is not served", "internal", `PUT ${health}`, json, 405],
  ["an open rpc with OPTIONS", "internal", `OPTIONS ${health}`, json, 204],
];
/** More than any surface takes, of which more comes than the largest message. */
const promised = 50_000_000;
const sent = "x".repeat(1_100_000);

test.concurrent.each(surfaces)(
  "%s: a body that does not end ends with its response over HTTP/1.1 [VAL-04]",
  async (_surface, listener, request, type, status) => {
    const socket = open(fixture().service[listener]);
    let received = "";
    socket.on("data", (bytes) => (received += bytes.toString()));
    const about = `Host: a\r\n${type === "" ? "" : `Content-Type: ${type}\r\n`}Content-Length: ${promised}\r\n`;
    socket.write(`${request} HTTP/1.1\r\n${about}\r\n${sent}`);
    expect(await first(closed(socket), slowClient(listener))).toBe("closed");
    expect(received.slice(0, 12)).toBe(`HTTP/1.1 ${status}`);
    // A second response, such as 408, would be to the same request.
    expect(received.match(/HTTP\/1\.1 \d/g)).toHaveLength(1);
  },
);

test.concurrent.each(surfaces)(
  "%s: a body that does not end ends with its response over HTTP/2 [VAL-04]",
  async (_surface, listener, request, type, status) => {
    const session = connectHttp2(fixture().service[listener]);
    opened.push(session);
    session.on("error", () => undefined);
    const [method, path] = request.split(" ");
    const head = { ":method": method, ":path": path, ...(type === "" ? {} : { "content-type": type }) };
    const stream = session.request(head, { endStream: false });
    stream.on("error", () => undefined);
    const completed = statusOf(stream);
    stream.resume().write(sent);
    expect(await first(closed(stream), slowClient(listener))).toBe("closed");
    expect(await completed).toBe(status);
    // The connection is still usable.
    expect(await statusOf(session.request({ ":path": listener === "base" ? "/v1/health" : "/livez" }))).toBe(200);
  },
);

/** Which of the two comes first: no time is asserted. */
function first(ended: Promise<void>, slow: Promise<void>): Promise<string> {
  return Promise.race([ended.then(() => "closed"), slow.then(() => "as late as a slow client")]);
}

/** Settles when an incomplete request is given up: a client without a response has 15 seconds. */
function slowClient(listener: Name): Promise<void> {
  const socket = open(fixture().service[listener]);
  const path = listener === "base" ? "/v1/contacts" : "/records.ingest.v1.IngestService/UpsertContacts";
  const account = `Authorization: Bearer ${listener === "base" ? owner.key : fixture().service.serviceToken}\r\n`;
  const about = `Host: a\r\n${account}Records-Account-Id: ${owner.id}\r\nContent-Type: application/json\r\n`;
  socket.write(`POST ${path} HTTP/1.1\r\n${about}Content-Length: 100\r\n\r\n{`);
  socket.resume();
  return closed(socket);
}

function open(base: string): Socket {
  const { hostname, port } = new URL(base);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  opened.push(socket);
  return socket;
}

function statusOf(stream: ClientHttp2Stream): Promise<unknown> {
  return new Promise((resolve) => stream.once("response", (head) => resolve(head[":status"])));
}

function closed(stream: { once(event: "close", listener: () => void): unknown }): Promise<void> {
  return new Promise((resolve) => stream.once("close", resolve));
}
