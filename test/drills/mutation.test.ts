// Checks the configuration of the mutation runs and the list of accepted survivors.
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { excluded, groups } from "./mutation/groups.ts";
import { rowsOf, scoreOf } from "./mutation/report.ts";

const root = join(import.meta.dirname, "../..");

function expectFiles(paths: readonly string[]): void {
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
}

test("every file and test of a group exists", () => {
  for (const { mutate, tests } of groups) expectFiles([...mutate, ...tests]);
});

test("a group has a mongod if and only if one of its tests uses it", () => {
  const needed = groups.map(({ name, tests }) => [
    name,
    tests.some((path) =>
      /\b(?:useService|useOwnDatabase|startService|createDatabase|startOwnMongod)\b/.test(read(path)),
    ),
  ]);
  expect(groups.map(({ name, mongod = false }) => [name, mongod])).toEqual(needed);
});

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

/** The guards, the gateway, and the commit that stores an idempotency key with its write. */
const parts = ["src/guards/", "gateway/", "src/db/write.ts", "src/db/conflicts.ts"];

function filesOf(part: string): string[] {
  if (!part.endsWith("/")) return [part];
  return readdirSync(join(root, part), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => `${part}${name}`);
}

test("mutates every file of the guards, the gateway and the idempotent commit in exactly one group, unless it is excluded with a reason", () => {
  const files = parts.flatMap(filesOf);
  const isExcluded = (path: string): boolean =>
    Object.keys(excluded).some((from) => (from.endsWith("/") ? path.startsWith(from) : path === from));
  const mutated = groups.flatMap(({ mutate }) => mutate);
  expect(mutated.filter((path) => files.includes(path)).sort()).toEqual(
    files.filter((path) => !isExcluded(path)).sort(),
  );
  expect(new Set(mutated).size).toBe(mutated.length);
});

test("excludes only existing files, each with a reason", () => {
  expectFiles(Object.keys(excluded));
  for (const reason of Object.values(excluded)) expect(reason.length).toBeGreaterThan(20);
});

test("accepted survivors are in existing files", () => {
  const named = [...read("test/drills/mutation/survivors.md").matchAll(/`((?:src|gateway)\/[\w/-]+\.ts)`/g)].map(
    ([, path = ""]) => path,
  );
  expect(named.length).toBeGreaterThan(10);
  expectFiles(named);
});

test("a mutant counts as detected if a test failed or timed out, but not if the tests could not run", () => {
  const folder = mkdtempSync(join(tmpdir(), "records-mutation-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const location = { start: { line: 1, column: 1 }, end: { line: 1, column: 2 } };
  const statuses = ["Killed", "Timeout", "Survived", "NoCoverage", "RuntimeError", "CompileError"];
  const mutants = statuses.map((status) => ({
    mutatorName: "M",
    replacement: "b",
    status,
    location,
    statusReason: "",
  }));
  mutants.push({ ...mutants[0]!, replacement: "c", statusReason: "Test timed out in 60000ms." });
  writeFileSync(join(folder, "report.json"), JSON.stringify({ files: { "a.ts": { source: "a", mutants } } }));
  const rows = rowsOf(join(folder, "report.json"));
  expect(rows).toEqual([
    {
      file: "a.ts",
      killed: 1,
      timeouts: ["a.ts:1:1 M (timed out): a → b", "a.ts:1:1 M (timed out): a → c"],
      survivors: ["a.ts:1:1 M: a → b", "a.ts:1:1 M (in no test): a → b", "a.ts:1:1 M (not run): a → b"],
    },
  ]);
  expect(scoreOf(rows)).toBe(50);
});
