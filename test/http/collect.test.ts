// Bodies as they are collected: the bytes in their order, and no memory beyond them.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { collect } from "../../src/http/collect.ts";

test("pieces of any size are returned unchanged", () => {
  for (const sizes of [[], [0], [5], [0, 3], [3, 0, 2], [1, 1, 1, 1, 1], [100, 1, 1_000, 7], [65_536, 65_536, 1]]) {
    const pieces = sizes.map((size, at) => Buffer.alloc(size, 65 + at));
    const collected = collect();
    for (const piece of pieces) collected.add(piece);
    expect(collected.bytes().equals(Buffer.concat(pieces)), String(sizes)).toBe(true);
  }
});

test("keeps a body that arrived byte by byte in little more than its size", () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  const slab = Buffer.alloc(1_000, "a");
  const collected = collect();
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let at = 0; at < 200_000; at++) collected.add(slab.subarray(at % 1_000, (at % 1_000) + 1));
  collectGarbage();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(4_000_000);
  expect(collected.bytes()).toHaveLength(200_000);
});
