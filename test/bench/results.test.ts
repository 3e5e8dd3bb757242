// Tests that differing runs are measured again and that each Node keeps its own column.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Benched } from "./bench.ts";
import { keep } from "./kept.ts";
import { measureRuns } from "./measure.ts";
import type { Pair, Run, Sample } from "./results.ts";
import { roundsOf, timesAsGood } from "./results.ts";
import { goalTable } from "./table.ts";

const sample = (serviceUs: number, mongodUs = 0): Sample => ({
  rate: 1_000,
  p50Ms: 1,
  p99Ms: 2,
  serviceUs,
  mongodUs,
  redisUs: 0,
});
/** A run in which the service takes this many microseconds, and the other 1,000. */
const run = (serviceUs: number, mongodUs = 0): Run => ({
  rounds: [{ own: sample(serviceUs, mongodUs), other: sample(1_000) }],
  failed: { own: 0, other: 0 },
  memoryMb: { own: 100, other: 100 },
});
const pairOf = (...runs: Run[]): Pair => ({
  line: "get",
  lineTitle: "GET contact",
  own: { name: "ours", title: "Records" },
  other: { name: "fastifyAgg", title: "Fastify, one aggregation" },
  runs,
});
const benchedOn = (node: string, ...runs: Run[]): Benched => ({
  results: { node, pairs: [pairOf(...runs)], starts: { ours: [500], floor: [250] }, searches: [], memory: undefined },
  notes: [],
});

async function measured(...costs: readonly Run[]): Promise<{ readonly runs: Run[]; readonly said: string[] }> {
  const said: string[] = [];
  const left = [...costs];
  const runs = await measureRuns(
    () => Promise.resolve(left.shift()!),
    { runs: 2 },
    (line) => said.push(line),
  );
  return { runs, said };
}

test("two runs that differ by at most 15 % are enough", async () => {
  const { runs, said } = await measured(run(800), run(900), run(1));
  expect(runs).toHaveLength(2);
  expect(said).toEqual([]);
});

test("runs that differ by more than 15 % are reported and measured again, and the last two count", async () => {
  const { runs, said } = await measured(run(800), run(1_000), run(1_000), run(1));
  expect(runs).toHaveLength(3);
  expect(said).toEqual([expect.stringContaining("differ by more than 15 %")]);
  expect(timesAsGood(roundsOf({ runs }), "serviceUs")).toEqual([1, 1]);
});

test("measures again if only the databases' CPU time differs", async () => {
  expect((await measured(run(800, 200), run(800, 800), run(800, 800))).runs).toHaveLength(3);
});

test("all four runs count if no two of them agree", async () => {
  const { runs, said } = await measured(run(100), run(200), run(400), run(800), run(800));
  expect(runs).toHaveLength(4);
  expect(said.at(-1)).toContain("all of them count");
  expect(roundsOf({ runs })).toHaveLength(4);
});

test("each Node has its own column, which a newer run on it replaces", () => {
  const folder = mkdtempSync(join(tmpdir(), "records-results-"));
  try {
    keep(folder, benchedOn("v24.1.0", run(500), run(500)), false);
    keep(folder, benchedOn("v20.19.6", run(1_000), run(1_000)), false);
    const text = keep(folder, benchedOn("v24.2.0", run(400), run(400)), false);
    expect(text).toContain("| Goal | Figure | Wanted | Node v20.19.6 | Node v24.2.0 |");
    expect(text).toMatch(
      /\| GET contact against Fastify with one aggregation \|.*\| 1\.00 \*\*missed\*\* \| 2\.50 reached \|/,
    );
    expect(text).not.toContain("v24.1.0");
    expect(readFileSync(join(folder, "results.md"), "utf8")).toBe(text);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("a partial run replaces only its lines of its Node", () => {
  const folder = mkdtempSync(join(tmpdir(), "records-results-"));
  const append: Pair = { ...pairOf(run(500)), line: "append", lineTitle: "Append note" };
  const whole = benchedOn("v24.1.0", run(1_000));
  try {
    keep(folder, { ...whole, results: { ...whole.results, pairs: [append, ...whole.results.pairs] } }, false);
    const part = benchedOn("v24.1.0", run(400));
    keep(folder, { results: { ...part.results, starts: {} }, notes: ["Rounds: 2."] }, true);
    const text = keep(folder, { results: { ...part.results, starts: {} }, notes: ["Rounds: 6."] }, true);
    expect(text).toMatch(/\| GET contact against Fastify with one aggregation \|.*\| 2\.50 reached \|/);
    expect(text).toContain("### Append note");
    expect(text).toContain("| Start to the first response against the floor | milliseconds | at most 1.5 | 2.00 ");
    expect(text).toContain("- Measured again, on a newer version: GET contact. Rounds: 6.");
    expect(text).not.toContain("Rounds: 2.");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("on a Node without a compile cache, a slow start is only reported", () => {
  const rowOn = (node: string): string | undefined =>
    goalTable([benchedOn(node, run(1_000)).results])
      .split("\n")
      .find((line) => line.includes("Start to the first response"));
  expect(rowOn("v20.19.6")).toContain("| 2.00 reported only |");
  expect(rowOn("v22.1.0")).toContain("| 2.00 **missed** |");
});
