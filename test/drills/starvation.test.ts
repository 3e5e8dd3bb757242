// The short form of the starvation drill, and tests of its checker.
import { expect, test } from "vitest";
import type { Attacked } from "./starvation/verdict.ts";
import { faultsOf, unfit } from "./starvation/verdict.ts";
import { starvation } from "./starvation/starvation.ts";
import { holds } from "./hold.ts";

// A build without limits only starves others reliably on an idle machine, so there is no control.
holds(starvation, ["RTE-09", "RTE-11", "HLT-04"], "never");

const quiet = seenAs(270, 0, 5);
const sound: Attacked = { quiet, seen: seenAs(268, 2, 40), spent: [[429, 9_000]], seconds: 30, waiting: 0.2 };

/** Measurements with these numbers of 200s and 503s, and this health latency. */
function seenAs(completed: number, rejected: number, ms: number, unhealthy: readonly number[] = []): Attacked["seen"] {
  const statuses = [...Array<number>(completed).fill(200), ...Array<number>(rejected).fill(503)];
  return { statuses, healthMs: Array<number>(600).fill(ms), unhealthy };
}

test.each<[string, Partial<Attacked>, RegExp | undefined]>([
  ["99 % of the responses and health in time", {}, undefined],
  [
    "98 % of the responses",
    { seen: seenAs(265, 5, 40) },
    /another account gets 98.1 % of its responses: 200: 265, 503: 5/,
  ],
  ["health checks that get 503", { seen: seenAs(270, 0, 40, [503]) }, /health got 503: 1/],
  ["slow health checks", { seen: seenAs(270, 0, 300) }, /health takes 300 ms, 5.0 before/],
  ["health checks that were as slow before", { seen: seenAs(270, 0, 300), quiet: seenAs(270, 0, 120) }, undefined],
  ["an attacker with too few requests", { spent: [[429, 100]] }, /100 requests are no attack/],
  ["an instance starved by the machine", { waiting: 0.9 }, /the machine is too busy/],
])("checks a long run with %s correctly", (_name, change, expected) => {
  const faults = faultsOf({ ...sound, ...change }, "long", false);
  expect(faults).toEqual(expected === undefined ? [] : [expect.stringMatching(expected)]);
});

test("a short run reports nothing if the machine starves the instance, but a control still reports it", () => {
  const starved = { ...sound, seen: seenAs(100, 100, 40), waiting: 0.9 };
  expect([faultsOf(starved, "short", false).length, faultsOf(starved, "short", true).length]).toEqual([0, 1]);
});

test("checks no attack if requests already fail without one", () => {
  expect(unfit(quiet)).toBeUndefined();
  expect(unfit(seenAs(260, 10, 5))).toMatch(/no attack can be checked/);
});
