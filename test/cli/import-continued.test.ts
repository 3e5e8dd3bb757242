// `records import` and `records export` whose process or connection ends early: the next run or connection continues.
import { randomBytes } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { identify } from "../../src/embedded/process-id.ts";
import { newClient, useService } from "../support/client.ts";
import type { Ended, Running } from "./cli.ts";
import { cli, cliJson, settingsFor, startCli, useFolder } from "./cli.ts";
import { contactsOf, nameless, settled } from "./imported.ts";
import { cuttingProxy, haltingProxy } from "./proxy.ts";

vi.setConfig({ testTimeout: 180_000 });

const service = useService();
const folder = useFolder();

/**
 * Starts an import from standard input and feeds it until more than `least` records are settled; the number that was
 * fed.
 */
async function feed(
  accountId: string,
  least = 0,
  settings: Record<string, string> = {},
): Promise<{ readonly running: Running; readonly fed: number }> {
  const running = startCli(importOf(accountId), {
    input: { open: true },
    environment: { ...settingsFor(service()), ...settings },
  });
  let fed = 0;
  let early: Ended | undefined;
  void running.ended.then((ended) => (early = ended));
  for (let done = 0; done <= least; done = await settled(service(), accountId)) {
    if (early !== undefined) throw new Error(`the import ended (${early.code}): ${early.stdout}${early.stderr}`);
    // No more than a slow machine settles within the time that Ctrl-C leaves.
    if (fed - done < 1_000) running.child.stdin?.write(nameless(fed, (fed += 200)));
    await sleep(50);
  }
  return { running, fed };
}

function importOf(accountId: string): string[] {
  return ["--json", "import", "-", "--account", accountId, "--name", "feed"];
}

test("an import that is killed with SIGKILL continues when it is run again: no record is missing or duplicated [OPS-04, ING-06]", async () => {
  const { id } = await newClient(service());
  const { running, fed } = await feed(id);
  running.child.kill("SIGKILL");
  expect((await running.ended).code).toBe("SIGKILL");
  const total = fed + 700;
  const result = await cliJson(service(), importOf(id), { input: nameless(0, total) });
  expect(result).toMatchObject({ done: true, position: total, rejected: 0, written: { contacts: total } });
  expect(result.resumed_from).toBeGreaterThan(0);
  expect(await contactsOf(service(), id)).toEqual({ count: total, names: total });
});

test("Ctrl-C settles everything that was sent and ends with 130, and the same command continues from there", async () => {
  const { id } = await newClient(service());
  const { running } = await feed(id);
  running.child.kill("SIGINT");
  const { code, stdout } = await running.ended;
  expect(code).toBe(130);
  const { done, position } = JSON.parse(stdout) as { done: boolean; position: number };
  expect([done, position]).toEqual([false, await settled(service(), id)]);
  expect(await contactsOf(service(), id)).toEqual({ count: position, names: position });
  const result = await cliJson(service(), importOf(id), { input: nameless(0, position + 300) });
  expect(result).toMatchObject({ done: true, resumed_from: position, written: { contacts: position + 300 } });
  expect(await contactsOf(service(), id)).toEqual({ count: position + 300, names: position + 300 });
});

test("records of a feed that pauses are written and settled meanwhile [OPS-04]", async () => {
  const { id } = await newClient(service());
  const running = startCli(importOf(id), { input: { open: true }, environment: settingsFor(service()) });
  for (const total of [3, 5]) {
    running.child.stdin?.write(nameless(total === 3 ? 0 : 3, total));
    await vi.waitFor(async () => expect(await settled(service(), id)).toBe(total), { timeout: 60_000, interval: 50 });
  }
  running.child.stdin?.end();
  const { code, stdout } = await running.ended;
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { done: true, position: 5, written: { contacts: 5 } }]);
  expect(await contactsOf(service(), id)).toEqual({ count: 5, names: 5 });
});

test("an import reconnects when its connection is cut, twice, while its feed pauses, and no record is missing or duplicated [OPS-04]", async () => {
  const { id } = await newClient(service());
  const proxy = await cuttingProxy(service().internal);
  const { running, fed } = await feed(id, 0, { RECORDS_INTERNAL_URL: proxy.url });
  proxy.lose();
  running.child.stdin?.write(nameless(fed, fed + 1_000));
  // More than the records: an import that waits for its feed sends an empty message now and then.
  const waiting = { timeout: 60_000, interval: 50 };
  await vi.waitFor(() => expect(proxy.lost()).toBeGreaterThan(8), waiting);
  proxy.cut();
  await vi.waitFor(async () => expect(await settled(service(), id)).toBe(fed + 1_000), waiting);
  proxy.cut();
  const total = fed + 3_000;
  running.child.stdin?.end(nameless(fed + 1_000, total));
  const { code, stdout } = await running.ended;
  await proxy.close();
  expect([code, JSON.parse(stdout)]).toMatchObject([
    0,
    { done: true, position: total, rejected: 0, written: { contacts: total } },
  ]);
  expect(proxy.connections()).toBeGreaterThanOrEqual(3);
  expect(await contactsOf(service(), id)).toEqual({ count: total, names: total });
});

test("an export whose connection is cut starts again, and its file is the same as without the cut [OPS-04, ING-07]", async () => {
  const { id, put } = await newClient(service());
  // Random texts, because the response is compressed.
  const notes = (): string => randomBytes(12_000).toString("base64");
  for (let batch = 0; batch < 3; batch++)
    await put.contacts(
      ...Array.from({ length: 100 }, (_, at) => ({ full_name: `Person ${batch} ${at}`, notes: notes() })),
    );
  const [whole, cut] = [folder.path("whole.ndjson"), folder.path("cut.ndjson")];
  await cliJson(service(), ["export", whole, "--account", id]);
  const proxy = await haltingProxy(service().internal, 1_000_000);
  const running = startCli(["export", cut, "--account", id], {
    environment: { ...settingsFor(service()), RECORDS_INTERNAL_URL: proxy.url },
  });
  const part = (): number | undefined =>
    statSync(`${cut}.${identify(running.child.pid ?? 0) ?? ""}.part`, { throwIfNoEntry: false })?.size;
  await vi.waitFor(() => expect(part()).toBeGreaterThan(0), { timeout: 60_000, interval: 2 });
  await proxy.cut();
  const { code, stderr } = await running.ended;
  await proxy.close();
  expect([code, stderr]).toEqual([0, expect.stringContaining("Starting again")]);
  expect(readFileSync(cut).equals(readFileSync(whole))).toBe(true);
});

test("imports standard input too, and resumes it by --name; rejects the name with another, shorter file", async () => {
  const { id } = await newClient(service());
  const input = nameless(0, 3);
  expect(await cliJson(service(), ["import", "-", "--account", id, "--name", "feed"], { input })).toMatchObject({
    import_id: "feed",
    format: "ndjson",
    resumed_from: 0,
    written: { contacts: 3 },
  });
  expect(
    await cliJson(service(), ["import", "-", "--account", id, "--name", "feed"], { input: nameless(0, 4) }),
  ).toMatchObject({ resumed_from: 3, position: 4 });
  const shorter = await cli(service(), ["import", "-", "--account", id, "--name", "feed"], { input });
  expect(shorter.code).toBe(1);
  expect(shorter.stderr).toContain("another file");
});
