// Runs the bench on its small data set: all peers return the same responses, and the table is complete.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bench } from "./bench.ts";
import type { Benched } from "./bench.ts";
import { table } from "./table.ts";

const folder = mkdtempSync(join(tmpdir(), "records-bench-"));
const lines = ["get", "sessions", "contacts", "notes", "create", "create-key", "append", "connect", "grpc"];
let benched: Benched;
beforeAll(async () => {
  benched = await bench({
    dataDir: folder,
    small: true,
    only: [...lines, "memory", "search"],
    effort: { runs: 1, rounds: 1, seconds: 0.1, warmSeconds: 0.1 },
    node: process.execPath,
    say: () => undefined,
  });
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("every peer serves every line without failures", () => {
  const { pairs } = benched.results;
  expect([...new Set(pairs.map(({ line }) => line))]).toEqual(lines);
  for (const { line, other, runs } of pairs) {
    expect(runs, `${line}, ${other.name}`).toHaveLength(1);
    for (const side of ["own", "other"] as const) {
      expect(runs[0]?.rounds[0]?.[side].rate, `${line}, ${other.name}`).toBeGreaterThan(0);
      expect(runs[0]?.failed[side], `${line}, ${other.name}`).toBe(0);
    }
  }
  expect(pairs.filter(({ line }) => line === "get").map(({ other }) => other.name)).toEqual([
    "floorBucket",
    "fastify",
    "fastifyAgg",
  ]);
});

test("a search for one word reads no more documents than its page, and at most 5,000 extra keys for a long word", () => {
  const searches = benched.results.searches.filter(({ list, words }) => list === "notes" && words === "one");
  expect(searches.length).toBeGreaterThan(2);
  for (const { title, sizes } of searches.filter(({ comparable }) => comparable)) {
    const mayBeLong = title === "a frequent word" || title === "a word of medium frequency";
    for (const { keys, documents } of sizes) {
      expect(documents, title).toBeLessThanOrEqual(16);
      expect(keys, title).toBeLessThanOrEqual(mayBeLong ? 5_016 : 16);
    }
  }
});

test("the table shows every measured goal and whether it is reached", () => {
  const text = table([benched]);
  expect(text).toMatch(
    /\| GET contact against the floor with a token \| CPU per request \| at least 0\.9 \| \d+\.\d\d (reached|\*\*missed\*\*) \|/,
  );
  expect(text).toContain("| Memory after GET contact against Fastify |");
  expect(text).toContain("### Search by size");
  expect(text).not.toMatch(/NaN|undefined|Infinity/);
});
