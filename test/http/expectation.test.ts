// Expect: 100-continue: the body is requested only if the headers do not already decide (RFC 9110 §10.1.1).
import { once } from "node:events";
import { connect, constants } from "node:http2";
import { expect, onTestFinished, test } from "vitest";
import { requestBody } from "../../src/http/continue.ts";
import type { Listener } from "../../src/http/listener.ts";
import { createListener } from "../../src/http/listener.ts";
import { exchange } from "../fixtures/clients/raw.ts";
import { useService } from "../support/client.ts";

const service = useService();
const rpc = "/records.v1.ContactService/SearchContacts";
const create = "/records.v1.ContactService/CreateContact";
const json = { "Content-Type": "application/json", "Content-Length": "4000" };

/** Rejections by the headers, with what a request sends besides a key. */
const rejected: readonly (readonly [string, number, string, string, Record<string, string>])[] = [
  ["no key", 401, "POST", "/v1/contacts", { ...json, Authorization: "" }],
  ["a malformed key", 401, "POST", "/v1/contacts", { ...json, Authorization: "Bearer rec_x" }],
  ["an unknown path of the API", 404, "POST", "/v1/nope", json],
  ["an unknown path", 404, "POST", "/nope", json],
  ["another method", 405, "PUT", "/v1/contacts", json],
  ["a length over the limit", 422, "POST", "/v1/contacts", { ...json, "Content-Length": "400000" }],
  ["another content type", 422, "POST", "/v1/contacts", { ...json, "Content-Type": "text/plain" }],
  ["a content coding", 422, "POST", "/v1/contacts", { ...json, "Content-Encoding": "gzip" }],
  ["a malformed Idempotency-Key", 422, "POST", "/v1/contacts", { ...json, "Idempotency-Key": "a b" }],
  ["an id that is not a UUID", 422, "PATCH", "/v1/contacts/x", json],
  ["an invalid query", 422, "POST", "/v1/contacts?x=%zz", json],
  ["an rpc without a key", 401, "POST", rpc, { ...json, Authorization: "" }],
  ["an rpc with another content type", 415, "POST", rpc, { ...json, "Content-Type": "text/plain" }],
  ["an rpc with a length over the limit", 400, "POST", rpc, { ...json, "Content-Length": "400000" }],
  ["an rpc with a malformed Idempotency-Key", 400, "POST", create, { ...json, "Idempotency-Key": "a b" }],
  ["an rpc with a coding that is not decoded", 501, "POST", rpc, { ...json, "Content-Encoding": "br" }],
  ["an rpc with a malformed timeout", 400, "POST", rpc, { ...json, "Connect-Timeout-Ms": "soon" }],
  ["MCP without a token", 401, "POST", "/mcp", { ...json, Authorization: "" }],
];

const lines = (headers: Record<string, string>): string =>
  Object.entries(headers)
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");

test.each(rejected)(
  "a request with %s gets %d without 100 before it [ERR-08]",
  async (_, status, method, path, sent) => {
    const { key } = await service().account();
    const headers = { Host: "a", Authorization: `Bearer ${key}`, Expect: "100-continue", ...sent };
    const { text, responses } = await exchange(service().base, `${method} ${path} HTTP/1.1\r\n${lines(headers)}\r\n`);
    expect(text.startsWith(`HTTP/1.1 ${status} `), text).toBe(true);
    // The next bytes may be the body, or another request.
    expect(responses[0]?.headers.get("connection")).toBe("close");

    const session = connect(service().base);
    onTestFinished(() => session.close());
    const { Host: _host, ...others } = headers;
    const stream = session.request(
      {
        ":method": method,
        ":path": path,
        ...Object.fromEntries(Object.entries(others).filter(([, value]) => value !== "")),
      },
      { endStream: false },
    );
    let continued = false;
    stream.on("continue", () => (continued = true)).resume();
    const [received] = (await once(stream, "response")) as [{ ":status": number }];
    expect([received[":status"], continued]).toEqual([status, false]);
  },
);

test.each([
  ["twice", "Expect: 100-continue\r\nExpect: 100-Continue\r\n", true],
  ["as an empty list", "Expect: ,\r\n", false],
  ["empty", "Expect:\r\n", false],
])("an expectation that is sent %s is served [ERR-08]", async (_, sent, isHeld) => {
  const { key } = await service().account();
  const body = '{"full_name":"Expected"}';
  const head = `POST /v1/contacts HTTP/1.1\r\n${lines({ ...json, "Content-Length": String(body.length) })}`;
  const { text } = await exchange(
    service().base,
    `${head}Host: a\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n${sent}\r\n${body}`,
  );
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual([...(isHeld ? ["HTTP/1.1 100"] : []), "HTTP/1.1 201"]);
});

test.each([
  ["GET /v1/contacts?query=ann", "", 200],
  ["POST /v1/contacts", "", 422],
  ["POST /v1/contacts", "Content-Length: 0\r\n", 422],
])("a request without a body gets no 100: %s with %j is %d [ERR-08]", async (target, length, status) => {
  const { key } = await service().account();
  const head = `${target} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nExpect: 100-continue\r\n${length}\r\n`;
  const { text } = await exchange(service().base, head);
  expect(text.startsWith(`HTTP/1.1 ${status} `), text).toBe(true);
});

test("a client that resets its stream while its body is held harms nothing [ERR-08]", async () => {
  let listener!: Listener;
  const asked = new Promise<unknown>((resolve) => {
    listener = createListener({
      handle(request) {
        // The stream is closed then, but has not said so.
        request.once("aborted", () => {
          try {
            resolve(requestBody(request));
          } catch (error) {
            resolve(error);
          }
        });
        stream.close(constants.NGHTTP2_NO_ERROR);
      },
      rejectMessage: () => "",
      rejectExpectation: () => undefined,
      rejectSlow: undefined,
      peersAreClients: true,
      onLimit: () => undefined,
    });
  });
  const session = connect(`http://127.0.0.1:${await listener.listen(0, "127.0.0.1")}`);
  onTestFinished(async () => {
    session.destroy();
    await listener.close(0, 0);
  });
  const stream = session.request({ ":method": "POST", ":path": "/", expect: "100-continue" });
  stream.on("error", () => undefined);
  expect(await asked).toBeUndefined();
});
