// Tests how the hostile drill derives and checks its cases, with known sources and costs.
import { expect, test } from "vitest";
import type { Case } from "./hostile/cases.ts";
import { casesOf } from "./hostile/cases.ts";
import { pumpsOf } from "./hostile/expressions.ts";
import type { Gauge } from "./hostile/gauge.ts";
import { filled, patternsFor, pump } from "./hostile/patterns.ts";
import { readSought, soughtIn } from "./hostile/sources.ts";
import { weigh, weighAll } from "./hostile/weigh.ts";

test("finds headers however the source reads them", () => {
  const { headers } = soughtIn(`
    const one = request.headers["x-one"] ?? request.headers.two;
    const { three } = request.headers;
    const four = inbound.header("four");
    const five = headers[binary ? "x-five" : "x-six"];
    for (const name of ["x-seven"]) read(request.headers[name]);
    const eight = request.headers.get("Eight");
  `);
  expect(headers).toEqual(["x-one", "two", "three", "four", "x-five", "x-six", "eight", "x-seven"]);
});

test("finds the literals and expressions that split, compare or match text", () => {
  const sought = soughtIn(`
    const parts = text.split(";").map((part) => part.trim());
    if (part === "gzip" || part.startsWith("q=")) found(/^a+$/.test(part));
    write("nothing of this");
  `);
  expect(sought).toEqual({ headers: [], literals: [";", "gzip", "q="], expressions: ["^a+$"] });
});

test("finds the service's own headers and expressions", () => {
  const { headers, expressions } = readSought();
  const expected = [
    "authorization",
    "accept",
    "cookie",
    "idempotency-key",
    "x-forwarded-for",
    "x-request-id",
    "traceparent",
  ];
  const ofLibraries = ["mcp-session-id", "connect-timeout-ms", "grpc-timeout", "last-event-id"];
  expect(headers).toEqual(expect.arrayContaining([...expected, ...ofLibraries, "transfer-encoding"]));
  expect(expressions).toContain("^bearer +([^\\s]+)$");
});

test.each([
  ["\\s*;\\s*q=", pump("a", " ", "!")],
  ["^gzip;q=(1|0\\.\\d*[1-9]\\d*)$", pump("gzip;q=0.", "1", "!")],
  ['duplicate object key "(.*)"$', pump("", 'duplicate object key "', "")],
  ["^(a+)+$", pump("", "a", "!")],
  ["[^?]*\\?", pump("a", "1", "!")],
])("the attack strings of %s repeat what its quantifiers match", (source, expected) => {
  expect(pumpsOf(source)).toContainEqual(expected);
});

test("an expression without a quantifier has no attack strings, nor does an invalid one", () => {
  expect([pumpsOf("^[a-z]{3}$"), pumpsOf("(")]).toEqual([[], []]);
});

test("a pattern has the requested length and keeps its start and end", () => {
  const text = filled(pump("a", "bc", "d"), 100);
  expect([text.length, text.slice(0, 3), text.slice(-3)]).toEqual([100, "abc", "bcd"]);
});

test("pairs every place with every pattern, always in the same order", () => {
  const patterns = patternsFor({ literals: [], expressions: [] }).slice(0, 7);
  const way = {
    name: "a way",
    maxBytes: [100],
    bytesOf: (text: string) => text.length,
    send: () => Promise.resolve({ status: 200 }),
  };
  const slots = ["one", "two"].map((name) => ({ name, ways: [way] }));
  const names = (): string[] => {
    const cases = casesOf(slots, patterns, 1);
    return Array.from({ length: 14 }, () => (cases.next().value as Case).name);
  };
  expect(new Set(names()).size).toBe(14);
  expect(names()).toEqual(names());
});

/** A case whose CPU cost depends on its share, and a gauge that reports this cost. */
function costing(
  cost: (share: number) => number,
  noise: readonly number[] = [0],
): { readonly one: Case; readonly gauge: Gauge } {
  let turn = 0;
  let taken = 0;
  return {
    one: { name: "a case", send: (share) => ((taken += cost(share)), Promise.resolve({ status: 200 })) },
    gauge: {
      async during(work) {
        taken = 0;
        await work();
        taken += noise[turn++ % noise.length] ?? 0;
        return { cpuMs: taken, blockMs: taken };
      },
      close: () => undefined,
    },
  };
}

test.each([
  ["a quadratic cost", (share: number) => 1 + 90 * share ** 2, 1],
  ["a cubic cost", (share: number) => 1 + 90 * share ** 3, 1],
  ["a linear cost", (share: number) => 1 + 90 * share, 0],
  ["a constant cost", () => 90, 0],
  ["a linear cost that delays other requests", (share: number) => 1 + 110 * share, 1],
  ["a negligible quadratic cost", (share: number) => 1 + 30 * share ** 2, 0],
])("checks %s correctly", async (_name, cost, faults) => {
  const { one, gauge } = costing(cost);
  expect((await weigh(one, gauge)).faults).toHaveLength(faults);
});

test("ignores unrelated work of the instance", async () => {
  const { one, gauge } = costing((share) => 1 + 60 * share, [80, 0, 200]);
  expect((await weigh(one, gauge)).faults).toEqual([]);
});

test("finds the one expensive case among many and reports a server error", async () => {
  const { one, gauge } = costing((share) => 200 * share);
  const easy: Case = { name: "easy", send: () => Promise.resolve({ status: 404 }) };
  const failing: Case = { name: "failing", send: () => Promise.resolve({ status: 500 }) };
  const { count, violations } = await weighAll([easy, easy, one, easy, easy, easy, easy, failing], gauge, {
    untilMs: Infinity,
    found: 10,
  });
  expect([count, violations]).toEqual([8, ["a case keeps all others waiting for 200 ms", "failing got 500"]]);
});

test("reports a violation if no request gets a response", async () => {
  const { gauge } = costing(() => 0);
  const failing: Case = { name: "failing", send: () => Promise.reject(new Error("refused")) };
  const { violations } = await weighAll([failing, failing], gauge, { untilMs: Infinity, found: 10 });
  expect(violations).toEqual(["no request got a response"]);
});
