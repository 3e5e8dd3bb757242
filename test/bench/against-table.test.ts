// Tests the comparison with an older commit: its table, its ratios, and when it fails.
import { expect, test } from "vitest";
import { againstTable, isSlower, ratioTable } from "./against-table.ts";
import type { Run, Sample } from "./results.ts";

const sample = (rate: number, serviceUs: number, mongodUs = 1_000): Sample => ({
  rate,
  p50Ms: 2,
  p99Ms: 9,
  serviceUs,
  mongodUs,
  redisUs: 0,
});
const run = (own: Sample, other: Sample, failed = 0): Run => ({
  rounds: [{ own, other }],
  failed: { own: failed, other: 0 },
  memoryMb: { own: 1, other: 1 },
});

test("shows medians with their spread, the ratios of the rounds, and the failures", () => {
  const runs = [
    run(sample(200, 500), sample(100, 500), 2),
    run(sample(300, 500), sample(200, 500)),
    run(sample(100, 500), sample(200, 500)),
  ];
  const text = againstTable(
    [{ members: 3, line: "get", runs: [{ ...runs[0]!, rounds: runs.flatMap(({ rounds }) => rounds) }] }],
    "abc",
    ["A note."],
  );
  expect(text).toContain("## get, 3 members");
  expect(text).toContain("| requests/s | 200 (100 to 300) | 200 (100 to 200) | 1.50 (0.50 to 2.00) |");
  expect(text).toContain("| CPU µs per request: Redis | 0 (0 to 0) | 0 (0 to 0) | too little to measure |");
  expect(text).toContain("**2 requests failed.**");
});

test("a line is slower if every run exceeds the limit, with or without the databases", () => {
  const even = run(sample(1, 500), sample(1, 500));
  const slow = run(sample(1, 650), sample(1, 500));
  const slowDatabase = run(sample(1, 500, 2_000), sample(1, 500));
  expect(isSlower({ runs: [even] }, 1.25)).toBe(false);
  expect(isSlower({ runs: [slow, slow] }, 1.25)).toBe(true);
  expect(isSlower({ runs: [slow, even] }, 1.25)).toBe(false);
  expect(isSlower({ runs: [slowDatabase, slowDatabase] }, 1.25)).toBe(true);
});

test("shows the ratio of each line and marks lines that exceed the limit", () => {
  const text = ratioTable(
    [
      { members: 1, line: "get", runs: [run(sample(1, 650), sample(1, 500))] },
      { members: 1, line: "notes", runs: [run(sample(1, 500), sample(1, 500), 3)] },
    ],
    1.25,
  );
  expect(text).toContain("| get | 1.30 (1.30 to 1.30) | 1.10 (1.10 to 1.10) | **above 1.25** |");
  expect(text).toContain("| notes | 1.00 (1.00 to 1.00) | 1.00 (1.00 to 1.00) | 3 requests failed. |");
});
