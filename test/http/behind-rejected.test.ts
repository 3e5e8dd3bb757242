// Requests in one write with one that is rejected by its headers: none behind it begins, even if the throttle takes its
// time.
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { exchange } from "../fixtures/clients/raw.ts";
import { readConfig } from "../../src/config/config.ts";
import { Failure } from "../../src/call/errors.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import type { Listener } from "../../src/http/listener.ts";
import { createListener } from "../../src/http/listener.ts";
import { publicListener } from "../../src/app/public-listener.ts";

let listener: Listener;
let base: string;
let throttle: () => Promise<void>;
/** The requests that began. */
let begun: string[];
let reported: string[];

beforeEach(async () => {
  [begun, reported] = [[], []];
  throttle = async () => void (await sleep(20));
  listener = createListener(
    publicListener(readConfig({}), {
      rest(request, response) {
        begun.push(`${request.method} ${request.url}`);
        response.end();
      },
      rpc: { serves: () => false, handle: async () => undefined },
      others: [],
      documents: new Map(),
      rejectUnknown: () => undefined,
      throttle: () => throttle(),
      throttleDocument: () => Promise.resolve(),
      onError: ({ kind }) => void reported.push(String(kind.http)),
      log: () => undefined,
      shed: () => undefined,
      logShed: () => undefined,
      logRejected: () => undefined,
      onLimit: () => undefined,
    }),
  );
  base = `http://127.0.0.1:${await listener.listen(0, "127.0.0.1")}`;
});
afterEach(() => listener.close(0, 0));

const next = "DELETE /v1/other HTTP/1.1\r\nHost: a\r\n\r\n";

test("a request behind one that is accepted begins", async () => {
  await exchange(base, `GET /v1/one HTTP/1.1\r\nHost: a\r\n\r\n${next.replace("Host", "Connection: close\r\nHost")}`);
  expect(begun).toEqual(["GET /v1/one", "DELETE /v1/other"]);
});

test.each([
  ["two Host lines", "GET /v1/one HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400],
  ["an unknown Expect", "POST /v1/one HTTP/1.1\r\nHost: a\r\nExpect: x\r\nContent-Length: 2\r\n\r\n{}", 417],
])("a request behind one that is rejected by its headers does not begin: %s [ERR-09]", async (_, first, status) => {
  const { responses, closed } = await exchange(base, first + next);
  expect(responses.map((one) => [one.status, one.headers.get("connection")])).toEqual([[status, "close"]]);
  expect([closed, begun, reported]).toEqual([true, [], []]);
});

test("a rejection by the throttle is reported, with its own status [ERR-10]", async () => {
  throttle = () => Promise.reject(new Failure(Reason.UNAVAILABLE, { because: "overload" }));
  const { responses } = await exchange(base, `GET /v1/one HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n${next}`);
  expect(responses.map(({ status }) => status)).toEqual([503]);
  expect([begun, reported]).toEqual([[], ["503"]]);
});
