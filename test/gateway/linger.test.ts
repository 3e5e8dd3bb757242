// What happens after a rejection to a client that is still sending (RFC 9112 §9.6).
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { announceClose, closeSent, isRejected, writeFailureAndClose } from "../../src/http/linger.ts";
import { Failure } from "../../src/call/errors.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import { createExchange } from "./exchange.ts";
import type { Version } from "./gateway.ts";

const failure = new Failure(Reason.MISSING_KEY);

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

describe.each<Version>(["HTTP/1.1", "HTTP/2"])("over %s", (version) => {
  test.each(["end", "close"])("a rejection is complete at the %s of the request, and is ended once", (event) => {
    const { request, response, calls, headers } = createExchange(version);
    writeFailureAndClose(request, response, failure);
    expect(response.statusCode).toBe(401);
    expect(headers["WWW-Authenticate"]).toBe("Bearer");
    expect(calls).toEqual([["write", expect.stringMatching(/^\{"error":\{"code":"401",/)]]);
    request.emit(event);
    expect(calls.slice(1)).toEqual([["end"]]);
    vi.advanceTimersByTime(10_000);
    expect(calls.slice(1)).toEqual([["end"]]);
  });

  test("a rejection is complete after a second if the request does not end", async () => {
    const { request, response, stream, calls } = createExchange(version);
    writeFailureAndClose(request, response, failure);
    vi.advanceTimersByTime(999);
    expect(calls).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(calls.slice(1)).toEqual([["end"]]);
    stream.emit("finish");
    await setImmediate();
    await setImmediate();
    expect(calls.slice(2)).toEqual(version === "HTTP/2" ? [["close"]] : []);
  });

  test("only a rejected request counts as rejected", () => {
    const { request, response } = createExchange(version);
    expect(isRejected(request)).toBe(false);
    writeFailureAndClose(request, response, failure);
    expect(isRejected(request)).toBe(true);
    expect(isRejected(createExchange(version).request)).toBe(false);
  });

  test("a rejection after the beginning of a response adds nothing to it", () => {
    const { request, response, calls, headers } = createExchange(version);
    response.headersSent = true;
    writeFailureAndClose(request, response, failure);
    vi.advanceTimersByTime(10_000);
    expect([calls, headers, isRejected(request)]).toEqual([[], {}, false]);
  });
});

test("only HTTP/1.1 has a header for the end of the connection", () => {
  const old = createExchange("HTTP/1.1");
  announceClose(old.request, old.response);
  expect(old.headers).toEqual({ Connection: "close" });
  const multiplexed = createExchange("HTTP/2");
  announceClose(multiplexed.request, multiplexed.response);
  expect(multiplexed.headers).toEqual({});
});

test("a stream is closed after its end has been sent, so that no reset overtakes it", async () => {
  const { stream, calls } = createExchange("HTTP/2");
  closeSent(stream);
  await setImmediate();
  await setImmediate();
  expect(calls).toEqual([]);
  stream.emit("finish");
  expect(calls).toEqual([]);
  await setImmediate();
  await setImmediate();
  expect(calls).toEqual([["close"]]);
});

test("a stream whose end has been sent before is closed as well", async () => {
  const { stream, calls } = createExchange("HTTP/2");
  stream.writableFinished = true;
  closeSent(stream);
  await setImmediate();
  await setImmediate();
  expect(calls).toEqual([["close"]]);
});
