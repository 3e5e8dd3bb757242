// Exports that run at once, or after a killed one: none uses or damages the files of another.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { newClient, useService } from "../support/client.ts";
import type { Running } from "./cli.ts";
import { cli, settingsFor, startCli, useFolder } from "./cli.ts";
import { haltingProxy } from "./proxy.ts";

vi.setConfig({ testTimeout: 180_000 });

const service = useService();
const folder = useFolder();

function partsOf(file: string): string[] {
  const names = readdirSync(dirname(file)).filter((name) => name.startsWith(basename(file)) && name.endsWith(".part"));
  return names.filter((name) => (statSync(join(dirname(file), name), { throwIfNoEntry: false })?.size ?? 0) > 0);
}

/** Starts an export that is killed with the test. */
function start(args: readonly string[], environment: Record<string, string> = {}): Running {
  const running = startCli(["export", ...args], { environment: { ...settingsFor(service()), ...environment } });
  onTestFinished(() => void running.child.kill("SIGKILL"));
  return running;
}

/** An export that does not continue until it is resumed. */
interface Halted {
  readonly running: Running;
  resume(): void;
}

/** Starts an export that has a part of its file and waits for the rest. */
async function startHalted(file: string, account: string): Promise<Halted> {
  const proxy = await haltingProxy(service().internal, 2_000_000);
  onTestFinished(() => proxy.close());
  const before = partsOf(file).length;
  const running = start(["--account", account, file], { RECORDS_INTERNAL_URL: proxy.url });
  await vi.waitUntil(() => partsOf(file).length > before, { timeout: 60_000, interval: 10 });
  return { running, resume: proxy.resume };
}

test("two concurrent exports to one file each put a complete file in place; the next one cleans up after a killed one", async () => {
  const { id, put } = await newClient(service());
  // Text that does not compress, so that the proxy stops in the middle of it.
  const notes = (): string => randomBytes(15_000).toString("base64");
  const many = Array.from({ length: 100 }, (_, at) => ({ full_name: `Person ${at}`, notes: notes() }));
  for (let batch = 0; batch < 4; batch++) await put.contacts(...many);
  const [whole, file] = [folder.path("whole.ndjson"), folder.path("twice.ndjson")];
  expect((await cli(service(), ["export", whole, "--account", id])).code).toBe(0);
  const isWhole = (): boolean => readFileSync(file).equals(readFileSync(whole));

  const first = await startHalted(file, id);
  const second = await startHalted(file, id);
  expect(existsSync(file)).toBe(false);
  first.resume();
  expect([(await first.running.ended).code, isWhole()]).toEqual([0, true]);
  // A running export keeps its part when another one starts.
  const third = await startHalted(file, id);
  second.resume();
  expect([(await second.running.ended).code, isWhole()]).toEqual([0, true]);

  third.running.child.kill("SIGKILL");
  await third.running.ended;
  expect(partsOf(file)).toHaveLength(1);
  expect((await cli(service(), ["export", file, "--account", id])).code).toBe(0);
  expect([partsOf(file), isWhole()]).toEqual([[], true]);
});

test("rejects a second export of all accounts to a folder while the first runs, and resumes the first once it was killed", async () => {
  await newClient(service());
  const path = folder.path("backup");
  const first = start(["--all", path, "--rate", "1"]);
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

test("an export of all accounts leaves out an account that is deleted after its file was written", async () => {
  await newClient(service());
  // The export of the last account takes longer than the deletion of the first one.
  const { put } = await newClient(service());
  await put.contacts(...Array.from({ length: 400 }, (_, at) => ({ full_name: `Person ${at}` })));
  const path = folder.path("deleted");
  const running = start(["--all", path, "--rate", "40"]);
  const manifest = join(path, "manifest.ndjson");
  const first = (): string | undefined =>
    existsSync(manifest) ? /"account_id":"([^"]+)"/.exec(readFileSync(manifest, "utf8"))?.[1] : undefined;
  const id = (await vi.waitUntil(first, { timeout: 60_000, interval: 10 })) ?? "";
  const request = { account_id: id, reason: "the owner asked" };
  await vi.waitUntil(
    async () => (await service().internalCall("records.admin.v1.AccountService/DeleteAccount", request)).body.erased,
    { timeout: 60_000, interval: 100 },
  );
  expect(running.child.exitCode).toBeNull();
  const { code, stdout } = await running.ended;
  expect([code, stdout]).toEqual([0, expect.stringContaining(`Account ${id} was deleted meanwhile and is left out.`)]);
  expect(existsSync(join(path, `${id}.ndjson`))).toBe(false);
  expect(readFileSync(manifest, "utf8")).not.toContain(`"account_id":"${id}"`);
  expect(readFileSync(manifest, "utf8")).toMatch(new RegExp(`"complete":true.*"left_out":\\["${id}"\\]`));
});

test("an export of all accounts leaves a folder with other files alone, whatever their names", async () => {
  const path = folder.path("foreign");
  mkdirSync(path);
  writeFileSync(join(path, "export.csv"), "name\n");
  const { code, stderr } = await cli(service(), ["export", "--all", path]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("has other files.")]);
  expect(readdirSync(path)).toEqual(["export.csv"]);
});
