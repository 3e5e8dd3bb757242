// The status of a gRPC call is in its trailers: no reset overtakes them, however busy the machine is.
import type { AddressInfo } from "node:net";
import { createServer as createTcpServer } from "node:net";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { connect, createServer } from "node:http2";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { lingerMs, writeAndClose } from "../../src/http/linger.ts";
import type { Request, Response } from "../../src/call/exchange.ts";
import { socketStream } from "../../src/http/http2.ts";
import { endUnread } from "../../src/http/unread.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

/** The time that a busy machine takes before it does anything else. */
const stall = (): unknown => vi.advanceTimersByTime(lingerMs);

test.each([
  ["a body that has arrived", true, (request: Http2ServerRequest) => request.once("end", stall)],
  ["a body that is still arriving", false, stall],
] as const)("a response to %s is complete if the machine is busy when it ends [WIR-08]", async (_what, ends, busy) => {
  const { trailers, code } = await call(ends, (request, response) => {
    endUnread(request as unknown as Request, response as unknown as Response);
    respond(response);
    response.stream.once("finish", () => busy(request));
  });
  expect([trailers, code]).toEqual(["14", 0]);
});

test.each(["", "x".repeat(300)])(
  "a rejection is complete if the machine is busy when its stream is closed: body %j [WIR-08]",
  async (body) => {
    const { trailers, code } = await call(false, (request, response) => {
      writeAndClose(request as unknown as Request, response as unknown as Response, () => respond(response, body));
      stall();
    });
    expect([trailers, code]).toEqual(["14", 0]);
  },
);

test("a body whose reader has given up and left its listener is discarded, and its stream closes [ING-06]", async () => {
  const { trailers, code } = await call(false, (request, response) => {
    request.on("readable", () => undefined);
    endUnread(request as unknown as Request, response as unknown as Response);
    respond(response);
    response.stream.once("finish", () => setImmediate(stall));
    return new Promise((close) => response.stream.once("close", close));
  });
  expect([trailers, code]).toEqual(["14", 0]);
});

function respond(response: Http2ServerResponse, body = ""): void {
  response.writeHead(200, { "Content-Type": "application/grpc" });
  response.addTrailers({ "grpc-status": "14" });
  if (body !== "") response.write(body);
  response.end();
}

/** What a client gets that sends a body whose end may never come. It leaves after what `serve` returns. */
async function call(
  ends: boolean,
  serve: (request: Http2ServerRequest, response: Http2ServerResponse) => unknown,
): Promise<{ trailers: unknown; code: number | undefined }> {
  let served: unknown;
  const server = createServer((request, response) => {
    served = serve(request, response);
  });
  const tcp = createTcpServer((socket) => void server.emit("connection", socketStream(socket)));
  await new Promise<void>((listening) => tcp.listen(0, "127.0.0.1", listening));
  const session = connect(`http://127.0.0.1:${(tcp.address() as AddressInfo).port}`);
  const stream = session.request({ ":method": "POST" });
  stream.resume().write("x".repeat(60_000));
  if (ends) stream.end();
  let trailers: unknown;
  stream.on("trailers", (head) => (trailers = head["grpc-status"]));
  await new Promise((close) => stream.once("close", close));
  await served;
  session.destroy();
  tcp.close();
  return { trailers, code: stream.rstCode };
}
