// The folder in memory for what the tests write.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { keepTemporaryFilesInMemory } from "../support/memory-folder.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "records-memory-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

test("a run has its own folder in memory, and removes that of a killed run [OPS-03]", async () => {
  const killed = spawn(process.execPath, ["--eval", ""]);
  await once(killed, "exit");
  for (const pid of [killed.pid, process.ppid]) mkdirSync(join(folder, `records-tests-${pid}`));
  writeFileSync(join(folder, "another"), "");
  const environment: NodeJS.ProcessEnv = {};
  keepTemporaryFilesInMemory(environment, { folder, minBytes: 1 });
  const own = `records-tests-${process.pid}`;
  expect(environment).toEqual({ TMPDIR: join(folder, own) });
  const left = ["another", own, `records-tests-${process.ppid}`, `records-tests-${killed.pid}`];
  expect(left.map((name) => existsSync(join(folder, name)))).toEqual([true, true, true, false]);
});

test.each([
  ["another folder is given", { TMPDIR: "/elsewhere" }, 1],
  ["there is too little memory", {}, Number.MAX_SAFE_INTEGER],
])("nothing changes if %s [OPS-03]", (_where, environment, minBytes) => {
  const after: NodeJS.ProcessEnv = { ...environment };
  keepTemporaryFilesInMemory(after, { folder, minBytes });
  expect(after).toEqual(environment);
});

test("nothing changes if the system has no file system in memory [OPS-03]", () => {
  const environment: NodeJS.ProcessEnv = {};
  keepTemporaryFilesInMemory(environment, { folder: join(folder, "missing"), minBytes: 1 });
  expect(environment).toEqual({});
});
