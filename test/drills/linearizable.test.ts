// Tests the linearizability check on histories with known verdicts, and against a brute-force search.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Step } from "./histories/linearizable.ts";
import { check } from "./histories/linearizable.ts";
import type { Fields } from "./histories/operation.ts";
import { stepsOf } from "./histories/steps.ts";
import { operation } from "./operation.ts";
import { inForm } from "../support/form.ts";

const initial: Fields = { full_name: "n0", email: "e0", phone: "p0" };
const names = ["full_name", "email", "phone"] as const;

test.each<[string, Step[]]>([
  ["an empty history", []],
  ["a read of a value written before", [write(0, 1, { phone: "p1" }), read(2, 3, { phone: "p1" })]],
  ["a read of the previous value while the write runs", [write(0, 10, { phone: "p1" }), read(2, 3, { phone: "p0" })]],
  [
    "concurrent reads of both values, the old one first",
    [write(0, 10, { phone: "p1" }), read(2, 3, { phone: "p0" }), read(4, 5, { phone: "p1" })],
  ],
  [
    "an unfinished write that is read later",
    [write(0, Infinity, { phone: "p1" }), read(1, 2, { phone: "p0" }), read(8, 9, { phone: "p1" })],
  ],
  [
    "an unfinished write that never happens",
    [write(0, Infinity, { phone: "p1" }), read(1, 2, { phone: "p0" }), read(8, 9, { phone: "p0" })],
  ],
  ["a response at the same instant as the next call", [write(0, 5, { phone: "p1" }), read(5, 6, { phone: "p0" })]],
  [
    "a write that returns the other fields",
    [
      write(0, 1, { phone: "p1" }),
      { sent: 2, completed: 3, wrote: { email: "e1" }, saw: { full_name: "n0", email: "e1", phone: "p1" } },
    ],
  ],
])("accepts %s", (_name, steps) => expect(check(initial, steps)).toEqual({ linearizable: true }));

test.each<[string, Step[], number]>([
  ["a stale read", [write(0, 1, { phone: "p1" }), read(2, 3, { phone: "p0" })], 1],
  ["a read of a value that was never written", [read(0, 1, { phone: "p9" })], 0],
  [
    "a new value, then an old one",
    [write(0, 10, { phone: "p1" }), read(2, 3, { phone: "p1" }), read(4, 5, { phone: "p0" })],
    2,
  ],
  [
    "a lost update",
    [write(0, 1, { email: "e1" }), write(2, 3, { phone: "p1" }), read(4, 5, { email: "e0", phone: "p1" })],
    2,
  ],
  [
    "fields that never existed together",
    [write(0, 1, { phone: "p1" }), write(2, 3, { email: "e1" }), read(4, 9, { phone: "p0", email: "e1" })],
    2,
  ],
  [
    "a value that comes back",
    [
      write(0, 1, { phone: "p1" }),
      write(2, 3, { phone: "p2" }),
      read(4, 5, { phone: "p2" }),
      read(6, 7, { phone: "p1" }),
    ],
    3,
  ],
  [
    "a write whose response lacks an earlier one",
    [
      write(0, 1, { phone: "p1" }),
      { sent: 2, completed: 3, wrote: { email: "e1" }, saw: { email: "e1", phone: "p0" } },
    ],
    1,
  ],
])("rejects %s", (_name, steps, at) => expect(check(initial, steps)).toEqual({ linearizable: false, at: steps[at] }));

test("agrees with a search of every order", () => {
  const value = fc.integer({ min: 0, max: 2 });
  const field = fc.constantFrom(...names);
  const step = fc
    .record({
      sent: fc.integer({ min: 0, max: 12 }),
      lasts: fc.integer({ min: 1, max: 8 }),
      endless: fc.boolean(),
      writes: fc.boolean(),
      field,
      value,
      shown: fc.array(fc.tuple(field, value), { maxLength: 2 }),
    })
    .map(({ sent, lasts, endless, writes, field, value, shown }): Step => {
      const saw = Object.fromEntries(shown.map(([name, at]) => [name, `${name[0] ?? ""}${at}`]));
      const wrote = { [field]: `${field[0] ?? ""}${value}` };
      return { sent, completed: writes && endless ? Infinity : sent + lasts, ...(writes ? { wrote } : { saw }) };
    });
  const start: Fields = { full_name: "f0", email: "e0", phone: "p0" };
  const numRuns = inForm(600, 3_000);
  let [good, bad] = [0, 0];
  fc.assert(
    fc.property(fc.array(step, { maxLength: 6 }), (steps) => {
      const expected = someOrder(start, steps);
      if (expected) good++;
      else bad++;
      expect(check(start, steps).linearizable).toBe(expected);
    }),
    { numRuns },
  );
  expect(Math.min(good, bad)).toBeGreaterThan(numRuns / 30);
});

test("accepts every history of a real register, however its operations overlap", () => {
  const due = fc.record({
    at: fc.integer({ min: 0, max: 1_000 }),
    before: fc.integer({ min: 0, max: 60 }),
    behind: fc.integer({ min: 0, max: 60 }),
    writes: fc.boolean(),
    field: fc.constantFrom(...names),
  });
  fc.assert(
    fc.property(fc.array(due, { maxLength: 150 }), (all) => {
      let state = initial;
      const steps = all
        .sort((one, other) => one.at - other.at)
        .map(({ at, before, behind, writes, field }, turn): Step => {
          const wrote = writes ? { [field]: `v${turn}` } : {};
          state = { ...state, ...wrote };
          return { sent: at - before - 0.5, completed: at + behind + 0.5, ...(writes && { wrote }), saw: state };
        });
      expect(check(initial, steps).linearizable).toBe(true);
    }),
    { numRuns: 100 },
  );
});

test("a write with an unknown outcome happens before the first read of its value, or is omitted", () => {
  const unread = operation({ wrote: { phone: "p1" }, outcome: "unknown", sent: 0, completed: 5 });
  const read = operation({ wrote: { phone: "p2" }, outcome: "unknown", sent: 0, completed: 5 });
  const failed = operation({ wrote: { phone: "p3" }, outcome: "failed", sent: 0, completed: 5 });
  const reads = [
    operation({ saw: { phone: "p2" }, sent: 20, completed: 30 }),
    operation({ saw: { phone: "p2" }, sent: 8, completed: 12 }),
  ];
  expect(stepsOf([unread, read, failed, ...reads])).toEqual([
    { sent: 0, completed: 12, wrote: { phone: "p2" } },
    { sent: 20, completed: 30, saw: { phone: "p2" } },
    { sent: 8, completed: 12, saw: { phone: "p2" } },
  ]);
});

function write(sent: number, completed: number, wrote: Partial<Fields>): Step {
  return { sent, completed, wrote };
}

function read(sent: number, completed: number, saw: Partial<Fields>): Step {
  return { sent, completed, saw };
}

/** Tries every order that the times allow. Unfinished operations may be omitted. */
function someOrder(state: Fields, left: readonly Step[]): boolean {
  if (left.every(({ completed }) => completed === Infinity)) return true;
  return left.some((step) => {
    if (left.some((other) => other !== step && other.completed < step.sent)) return false;
    const next = { ...state, ...step.wrote };
    const fits = names.every((name) => step.saw?.[name] === undefined || step.saw[name] === next[name]);
    return (
      fits &&
      someOrder(
        next,
        left.filter((other) => other !== step),
      )
    );
  });
}
