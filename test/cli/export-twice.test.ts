// Exports that run at once, or after one that was killed: none takes or spoils what is another's.
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { newClient, useService } from "../support/client.ts";
import type { Running } from "./cli.ts";
import { cli, settingsFor, startCli, useFolder } from "./cli.ts";

vi.setConfig({ testTimeout: 180_000 });

const service = useService();
const folder = useFolder();

/** The parts of a file, those with something in them. */
function partsOf(file: string): string[] {
  const names = readdirSync(dirname(file)).filter((name) => name.startsWith(basename(file)) && name.endsWith(".part"));
  return names.filter((name) => (statSync(join(dirname(file), name), { throwIfNoEntry: false })?.size ?? 0) > 0);
}

/** Starts an export that is killed with the test. */
function start(...args: string[]): Running {
  const running = startCli(["export", ...args], { environment: settingsFor(service()) });
  onTestFinished(() => void running.child.kill("SIGKILL"));
  return running;
}

/** Starts an export and stops it amid its file. */
async function startAndHalt(file: string, account: string): Promise<Running> {
  const before = partsOf(file);
  const inode = before[0] === undefined ? undefined : statSync(join(dirname(file), before[0])).ino;
  const running = start(file, "--account", account);
  const isBegun = (): boolean =>
    partsOf(file).some((name) => !before.includes(name) || statSync(join(dirname(file), name)).ino !== inode);
  await vi.waitUntil(isBegun, { timeout: 60_000, interval: 2 });
  running.child.kill("SIGSTOP");
  return running;
}

test("of two exports to one file at once each puts a whole file in place, and a killed one leaves nothing after the next", async () => {
  const { id, put } = await newClient(service());
  const many = Array.from({ length: 100 }, (_, at) => ({ full_name: `Person ${at}`, notes: "long ".repeat(4_000) }));
  for (let batch = 0; batch < 9; batch++) await put.contacts(...many);
  const [whole, file] = [folder.path("whole.ndjson"), folder.path("twice.ndjson")];
  expect((await cli(service(), ["export", whole, "--account", id])).code).toBe(0);
  const isWhole = (): boolean => readFileSync(file).equals(readFileSync(whole));

  const first = await startAndHalt(file, id);
  const second = await startAndHalt(file, id);
  expect(existsSync(file)).toBe(false);
  first.child.kill("SIGCONT");
  expect([(await first.ended).code, isWhole()]).toEqual([0, true]);
  // One that is at it keeps its part when another begins.
  const third = await startAndHalt(file, id);
  second.child.kill("SIGCONT");
  expect([(await second.ended).code, isWhole()]).toEqual([0, true]);

  third.child.kill("SIGKILL");
  await third.ended;
  expect(partsOf(file)).toHaveLength(1);
  expect((await cli(service(), ["export", file, "--account", id])).code).toBe(0);
  expect([partsOf(file), isWhole()]).toEqual([[], true]);
});

test("a second export of all accounts to a folder is rejected while the first runs, and resumes it once it was killed", async () => {
  await newClient(service());
  const path = folder.path("backup");
  const first = start("--all", path, "--rate", "1");
  await vi.waitUntil(() => existsSync(join(path, "manifest.ndjson")), { timeout: 60_000, interval: 10 });
  expect(await cli(service(), ["export", "--all", path])).toEqual({
    code: 1,
    stdout: "",
    stderr: `records: Another export writes to ${path} (pid ${first.child.pid}). Wait until it has ended, or name another folder.\n`,
  });
  first.child.kill("SIGKILL");
  await once(first.child, "close");
  expect((await cli(service(), ["export", "--all", path, "--rate", "100000"])).code).toBe(0);
  expect(readdirSync(path).filter((name) => !name.endsWith(".ndjson"))).toEqual([]);
});

test("an export of all accounts touches no folder that has other files, whatever their names", async () => {
  const path = folder.path("foreign");
  mkdirSync(path);
  writeFileSync(join(path, "export.csv"), "name\n");
  const { code, stderr } = await cli(service(), ["export", "--all", path]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("has other files.")]);
  expect(readdirSync(path)).toEqual(["export.csv"]);
});
