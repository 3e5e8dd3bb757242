// nginx of the distribution in front of two instances, by the example in deploy/proxy.
import { once } from "node:events";
import type { IncomingHttpHeaders } from "node:http2";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import { rest, startService } from "../../fixtures/service/service.ts";
import { freePort } from "../../../src/embedded/port.ts";
import type { Proxy } from "./programs.ts";
import { nginx, startProxy } from "./programs.ts";
import { proxied } from "./proxied.ts";

proxied(nginx);

/** The status and the body of a response to bytes on a connection of their own. */
function exchange(proxy: Proxy, head: string): Promise<readonly [status: number, type: string, body: unknown]> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: proxy.port, host: "127.0.0.1", rejectUnauthorized: false });
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
    socket.on("error", reject);
    socket.on("close", () => {
      const [first = "", body = ""] = text.split("\r\n\r\n");
      const type = /content-type: ([^\r]*)/i.exec(first)?.[1] ?? "";
      resolve([Number(first.slice(9, 12)), type, JSON.parse(body)]);
    });
    socket.write(`${head}\r\nConnection: close\r\n\r\n`);
  });
}

const rejectedByNginx = [
  ["a path that is not percent-encoded", "GET /v1/contacts/%zz HTTP/1.1\r\nHost: a", 400],
  ["a path with NUL", "GET /v1/contacts/%00 HTTP/1.1\r\nHost: a", 400],
  ["a path outside the root", "GET /../../v1/health HTTP/1.1\r\nHost: a", 400],
  ["a Host with a blank", "GET /v1/health HTTP/1.1\r\nHost: a b", 400],
  ["no Host", "GET /v1/health HTTP/1.1", 400],
  ["the path of its own errors", "GET /rejected HTTP/1.1\r\nHost: a", 404],
  ["TRACE", "TRACE /v1/health HTTP/1.1\r\nHost: a", 405],
  ["a URL of 70 KB", `GET /v1/health?a=${"a".repeat(70_000)} HTTP/1.1\r\nHost: a`, 414],
  ["a header of 70 KB", `GET /v1/health HTTP/1.1\r\nHost: a\r\nX-Large: ${"a".repeat(70_000)}`, 431],
  ["a transfer coding", "POST /v1/contacts HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip", 501],
  ["HTTP/3.0 on a connection of HTTP/1.1", "GET /v1/health HTTP/3.0\r\nHost: a", 505],
] as const;

test("a request that nginx itself rejects gets the envelope of the API, never HTML", async () => {
  const proxy = await startProxy(nginx, { publicPort: await freePort(), internalPort: await freePort() });
  onTestFinished(() => proxy.stop());
  for (const [what, head, status] of rejectedByNginx) {
    const [found, type, body] = await exchange(proxy, head);
    expect([what, found, type]).toEqual([what, status, "application/json"]);
    expect(body, what).toEqual({
      error: {
        code: String(status),
        message: expect.stringMatching(/\w+ \w+/),
        reason: expect.stringMatching(/^[A-Z_]+$/),
      },
    });
  }
  // The port is for TLS alone.
  const plain = await rest(`http://localhost:${proxy.port}`, "/v1/contacts");
  expect([plain.status, plain.body.error.code]).toEqual([400, "400"]);
});

test("nginx passes on every URL and header that the service accepts, over both HTTP versions", async () => {
  const service = await startService();
  const proxy = await startProxy(nginx, {
    publicPort: Number(new URL(service.base).port),
    internalPort: Number(new URL(service.internal).port),
  });
  onTestFinished(() => proxy.stop().then(() => service.stop()));
  const long = "a".repeat(15_000);
  const authority = { ":authority": `localhost:${proxy.port}` };
  const session = connectHttp2(proxy.base, { rejectUnauthorized: false });
  onTestFinished(() => session.close());
  for (const [path, headers] of [
    [`/v1/health?x=${long}`, {}],
    ["/v1/health", { "x-long": long }],
  ] as const) {
    expect((await rest(proxy.base, path, { headers })).status).toBe(200);
    const stream = session.request({ ...authority, ":path": path, ...headers });
    const [received] = (await once(stream, "response")) as [IncomingHttpHeaders];
    stream.resume();
    expect(received[":status"]).toBe(200);
  }
  // The service rejects more, with its own limits in the response.
  const large = await rest(proxy.base, "/v1/contacts", { headers: { "X-Large": "a".repeat(40_000) } });
  expect([large.status, large.body.error.code, large.headers.get("RateLimit-Limit")]).toEqual([431, "431", "100000"]);
});
