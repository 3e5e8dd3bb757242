// How a body is written: in how many pieces, and no faster than its client reads it.
import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { writeBody, writeFailure } from "../../src/http/response.ts";
import { Failure } from "../../src/call/errors.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import { createExchange } from "./exchange.ts";
import type { Version } from "./gateway.ts";

const versions: readonly Version[] = ["HTTP/1.1", "HTTP/2"];
const pieces = ["one", "two", "three"].map((text) => Buffer.from(text));

test.each([
  ["a text", '{"data":"Zoë"}'],
  ["a single piece", [Buffer.from('{"data":"Zoë"}')]],
] as const)("%s is sent at once: in one piece over HTTP/1.1, and in one frame over HTTP/2", async (_what, body) => {
  const old = createExchange("HTTP/1.1");
  await writeBody(old.request, old.response, body);
  expect(old.calls).toEqual([["write", '{"data":"Zoë"}'], ["uncork"], ["end"]]);
  const multiplexed = createExchange("HTTP/2");
  await writeBody(multiplexed.request, multiplexed.response, body);
  expect(multiplexed.calls).toEqual([["end", '{"data":"Zoë"}']]);
});

describe.each(versions)("over %s", (version) => {
  test("a body without pieces ends at once", async () => {
    const { request, response, calls } = createExchange(version);
    await writeBody(request, response, []);
    expect(calls).toEqual([["end"]]);
  });

  test("HEAD gets no body", async () => {
    for (const body of ["a text", pieces]) {
      const { request, response, calls } = createExchange(version, { method: "HEAD" });
      await writeBody(request, response, body);
      expect(calls).toEqual([["end"]]);
    }
  });

  test("the pieces of a body are sent one after the other to a client that reads them", async () => {
    const { request, response, calls } = createExchange(version);
    await writeBody(request, response, pieces);
    expect(calls).toEqual([["write", "one"], ["write", "two"], ["write", "three"], ["end"]]);
  });

  test("each piece is sent once the client has read the last one, and no listener is left", async () => {
    const { request, response, calls } = createExchange(version);
    response.isRead = false;
    const written = writeBody(request, response, pieces);
    await setImmediate();
    expect(calls).toEqual([["write", "one"]]);
    response.emit("drain");
    await setImmediate();
    expect(calls).toEqual([
      ["write", "one"],
      ["write", "two"],
    ]);
    expect(response.listenerCount("drain") + response.listenerCount("close")).toBe(2);
    response.emit("drain");
    await setImmediate();
    response.emit("drain");
    await setImmediate();
    expect(calls.at(-1)).toEqual(["end"]);
    expect(response.listenerCount("drain") + response.listenerCount("close")).toBe(0);
    await written;
  });

  test("a client that leaves while it reads gets no further piece, and nothing waits for it", async () => {
    const exchange = createExchange(version);
    const { request, response, calls } = exchange;
    response.isRead = false;
    const written = writeBody(request, response, pieces);
    (version === "HTTP/2" ? exchange.stream : exchange.socket).destroyed = true;
    response.emit("close");
    await setImmediate();
    expect(response.listenerCount("drain") + response.listenerCount("close")).toBe(0);
    expect(calls).not.toContainEqual(["write", "three"]);
    expect(calls).not.toContainEqual(["end"]);
    await written;
  });

  test("nothing waits for a client that left before it read anything", async () => {
    const exchange = createExchange(version);
    const { request, response, calls } = exchange;
    response.isRead = false;
    (version === "HTTP/2" ? exchange.stream : exchange.socket).destroyed = true;
    const written = writeBody(request, response, pieces);
    expect(response.listenerCount("drain") + response.listenerCount("close")).toBe(0);
    await written;
    expect(calls).toEqual([["write", "one"]]);
  });

  test("a failure after the beginning of a response adds nothing to it", () => {
    const { response, calls, headers } = createExchange(version);
    response.headersSent = true;
    response.statusCode = 200;
    writeFailure(response, new Failure(Reason.INTERNAL));
    expect([calls, headers, response.statusCode]).toEqual([[], {}, 200]);
  });
});
