// The first start on a new machine, and the second: nothing is cached, and what was fetched stays up.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { VERSION } from "../src/embedded/memory-server.ts";
import { rest } from "./fixtures/service/service.ts";
import { spawnProgram } from "./program.ts";

/** A faulty allocator shows within half a minute. */
const staysUpMs = 90_000;

test("a start with an empty cache serves, keeps its records, and still runs after 90 seconds [OPS-18]", async () => {
  const folder = mkdtempSync(join(tmpdir(), "records-first-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [dataDir, cache] = [join(folder, "data"), join(folder, "cache")];
  const start = async () => {
    const program = spawnProgram({ DATA_DIR: dataDir, XDG_CACHE_HOME: cache });
    onTestFinished(() => void program.child.kill("SIGTERM"));
    await expect.poll(() => program.base, { timeout: 300_000, interval: 500 }).not.toBe("");
    const { accounts } = JSON.parse(readFileSync(join(dataDir, "demo.json"), "utf8")) as {
      readonly accounts: readonly { readonly api_key: string }[];
    };
    return { program, key: accounts[0]?.api_key ?? "" };
  };
  const first = await start();
  // The version that CI requires; a machine without the internet gets the one from the wheel.
  if (process.env["MONGODB"] !== undefined) {
    expect(process.env["MONGODB"]).toBe(VERSION);
    expect(first.program.stdout).toContain(`(${VERSION})`);
  }
  const create = {
    method: "POST",
    key: first.key,
    body: { full_name: "Ann Lee" },
    headers: { "Idempotency-Key": "first-start" },
  };
  const created = await rest(first.program.base, "/v1/contacts", create);
  expect(created.status).toBe(201);
  await sleep(staysUpMs);
  expect(first.program.stdout + first.program.stderr).not.toContain("is started again");
  expect((await rest(first.program.base, "/v1/contacts", create)).text).toBe(created.text);
  first.program.child.kill("SIGTERM");
  expect(await first.program.ended).toBe(0);
  expect(existsSync(join(cache, "records"))).toBe(true);
  const second = await start();
  expect((await rest(second.program.base, "/v1/contacts", { ...create, key: second.key })).text).toBe(created.text);
  second.program.child.kill("SIGTERM");
  expect(await second.program.ended).toBe(0);
}, 600_000);
