// What is received of a body, without a connection around it: its bytes, its form, and each way in which it is
// rejected.
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { createTally } from "../../src/call/tally.ts";
import type { Body, Client } from "../../src/http/body.ts";
import { receiveBody, receiveBytes } from "../../src/http/body.ts";
import { writeAndClose } from "../../src/http/linger.ts";
import type { Request, Response } from "../../src/http/node-http.ts";

function request(
  chunks: readonly (string | Buffer)[],
  headers: Record<string, string> = {},
  state: { readonly aborted?: boolean; readonly destroyed?: boolean } = {},
): Request {
  const stream = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  if (state.destroyed) stream.destroy();
  return Object.assign(stream, { headers, aborted: state.aborted ?? false }) as unknown as Request;
}

const json = { "content-type": "application/json" };

/** What is wrong with a body, as `rule: message`. */
async function wrong(body: Promise<Body>): Promise<string> {
  const received = await body;
  if (!("violation" in received)) return received.kind;
  expect(received.violation.field).toBe("");
  return `${received.kind}, ${received.violation.rule}: ${received.violation.message}`;
}

test("receives bytes completely up to the limit, in pieces of any size", async () => {
  expect(await receiveBytes(request([]), 4)).toEqual(Buffer.alloc(0));
  expect(await receiveBytes(request(["ab", "cd"]), 4)).toEqual(Buffer.from("abcd"));
  expect(await receiveBytes(request(["abcd"], { "content-length": "4" }), 4)).toEqual(Buffer.from("abcd"));
});

test("rejects more bytes than the limit as soon as that is known", async () => {
  expect(await receiveBytes(request(["ab", "cd", "e"]), 4)).toBe("too large");
  const announced = request(["a"], { "content-length": "5" });
  expect(await receiveBytes(announced, 4)).toBe("too large");
  // Nothing of it was read.
  expect((announced as unknown as Readable).readableFlowing).toBeNull();
});

test("returns nothing for a client that disconnects before or during its body", async () => {
  expect(await receiveBytes(request(["a"], {}, { aborted: true }), 4)).toBe("gone");
  expect(await receiveBytes(request(["a"], {}, { destroyed: true }), 4)).toBe("gone");
  const leaving = new Readable({
    read() {
      this.push("a");
      this.destroy();
    },
  });
  expect(await receiveBytes(Object.assign(leaving, { headers: {}, aborted: false }) as unknown as Request, 4)).toBe(
    "gone",
  );
  expect(await receiveBody(request(["{}"], json, { aborted: true }), true)).toEqual({ kind: "gone" });
});

test("returns nothing for a request that is rejected meanwhile, whether its body ends or goes on", async () => {
  const nothing = (): void => undefined;
  const response = { headersSent: false, setHeader: nothing, end: nothing } as unknown as Response;
  const endless = new Readable({ read: nothing });
  endless.push("ab");
  for (const late of [request([]), Object.assign(endless, { headers: {}, aborted: false }) as unknown as Request]) {
    const received = receiveBytes(late, 4);
    writeAndClose(late, response, nothing);
    expect(await received).toBe("gone");
  }
});

test("returns that a body is too slow, and leaves the rest to be discarded", async () => {
  const slow = new Readable({ read: () => undefined });
  slow.push("ab");
  const received = receiveBytes(
    Object.assign(slow, { headers: {}, aborted: false }) as unknown as Request,
    4,
    undefined,
    20,
  );
  expect(await received).toBe("too slow");
  expect([slow.listenerCount("data"), slow.readableFlowing]).toEqual([0, true]);
  expect(await receiveBytes(request(["ab", "cd"]), 4, undefined, 10_000)).toEqual(Buffer.from("abcd"));
});

test("treats a missing body as an empty object if none is required, provided that its type is missing or right [VAL-05]", async () => {
  const empty = { kind: "object", properties: new Map(), flaws: [] };
  expect(await receiveBody(request([]), false)).toEqual(empty);
  expect(await receiveBody(request([], json), false)).toEqual(empty);
  expect(await wrong(receiveBody(request([], { "content-type": "text/plain" }), false))).toBe(
    "rejected, content_type: Content-Type must be application/json",
  );
  expect(await wrong(receiveBody(request([]), true))).toBe(
    "rejected, required: the request must have a body: a JSON object",
  );
});

test("large bodies of clients are decoded in turn, however many one of them sends [OPS-72]", async () => {
  const decoded: string[] = [];
  const inbound = (address: string, account?: string): Client => ({ address, tally: { ...createTally(), account } });
  const noisy = ["a", "a", "a", "a"].map((name): [string, Client] => [name, inbound("192.0.2.1", "one account")]);
  const others: [string, Client][] = [
    ["b", inbound("192.0.2.1", "another account")],
    ["c", inbound("2001:db8::1")],
    ["c", inbound("2001:db8::2")],
    ["d", inbound("2001:db8:0:1::1")],
  ];
  await Promise.all(
    [...noisy, ...others].map(async ([name, client]) => {
      expect(await receiveBytes(request(["x".repeat(40_000)]), 50_000, client)).toHaveLength(40_000);
      decoded.push(name);
    }),
  );
  expect(decoded).toEqual(["a", "b", "c", "d", "a", "c", "a", "a"]);
});
