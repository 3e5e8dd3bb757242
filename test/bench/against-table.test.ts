// The table of the comparison with an older commit.
import { expect, test } from "vitest";
import type { PairSample } from "../../bench/against-table.ts";
import { againstTable } from "../../bench/against-table.ts";

const sample = (rate: number, redisMs: number): PairSample => ({
  rate,
  p50Ms: 2,
  p99Ms: 9,
  serviceMs: 0.5,
  mongodMs: 1,
  redisMs,
});

test("shows medians with their spread, the ratio of each round, and what failed", () => {
  const rounds = [
    { new: sample(200, 0), old: sample(100, 0) },
    { new: sample(300, 0), old: sample(200, 0) },
    { new: sample(100, 0), old: sample(200, 0) },
  ];
  const text = againstTable([{ members: 3, line: "get", rounds, failed: 2 }], "abc", ["A note."]);
  expect(text).toContain("## get, 3 members");
  expect(text).toContain("| requests/s | 200 (100 to 300) | 200 (100 to 200) | 1.50 (0.50 to 2.00) |");
  expect(text).toContain(
    "| CPU ms per request: Redis | 0.000 (0.000 to 0.000) | 0.000 (0.000 to 0.000) | too little to tell |",
  );
  expect(text).toContain("**2 requests failed.**");
});
