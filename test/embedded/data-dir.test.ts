// DATA_DIR belongs to one running service at a time.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { lockDataDir } from "../../src/embedded/data-dir.ts";
import { startEmbedded } from "../../src/embedded/dependencies.ts";
import { temporaryFolder } from "./machine.ts";

test("locks a data folder, rejects a second process with one line, and frees the folder on release [OPS-21]", async () => {
  const dir = join(await temporaryFolder(), "data");
  const lock = await lockDataDir(dir);
  expect((await stat(dir)).mode & 0o777).toBe(0o700);
  await expect(lockDataDir(dir)).rejects.toThrow(
    `DATA_DIR ${dir} is in use by the running service with pid ${process.pid}; stop it or set another DATA_DIR`,
  );
  await lock.release();
  await (await lockDataDir(dir)).release();
});

test("of many processes that take over a dead one's folder at once, never two get it [OPS-21]", async () => {
  const dir = await temporaryFolder();
  await (await lockDataDir(dir)).release();
  await writeFile(join(dir, "processes/service.1-1-deaddead"), "");
  const script = `
    const { lockDataDir } = await import(${JSON.stringify(join(import.meta.dirname, "../../src/embedded/data-dir.ts"))});
    const lock = await lockDataDir(process.argv[1]).catch(() => undefined);
    console.log(lock === undefined ? "refused" : "held");
    process.stdin.resume();`;
  const takers = Array.from({ length: 5 }, () =>
    spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", script, dir], {
      stdio: ["pipe", "pipe", "inherit"],
    }),
  );
  onTestFinished(() => takers.forEach((taker) => taker.kill("SIGKILL")));
  const responses = await Promise.all(
    takers.map(async (taker) => String((await once(taker.stdout, "data"))[0]).trim()),
  );
  expect(responses.filter((response) => response === "held").length).toBeLessThanOrEqual(1);
  expect(responses).toHaveLength(5);
});

test("without a home directory nothing is started or written, and one line names the variable to set [OPS-14]", async () => {
  const dir = join(await temporaryFolder(), "data");
  const config = { ...readConfig({ DATA_DIR: dir }), cacheDir: undefined };
  await expect(startEmbedded(config, () => undefined)).rejects.toThrow(
    /^XDG_CACHE_HOME: is required when MONGODB_URI or REDIS_URL is not set and the user has no home directory: /,
  );
  expect(existsSync(dir)).toBe(false);
});

test("a data folder that cannot be created or written is named with the system's reason [OPS-14]", async () => {
  const folder = await temporaryFolder();
  await symlink(join(folder, "nowhere"), join(folder, "link"));
  await writeFile(join(folder, "processes"), "");
  const reasons = [
    [join(folder, "link"), "EEXIST"],
    [join(folder, "processes", "data"), "ENOTDIR"],
    [folder, "EEXIST"],
  ] as const;
  for (const [dir, code] of reasons)
    await expect(startEmbedded(readConfig({ DATA_DIR: dir }), () => undefined)).rejects.toThrow(
      new Error(`DATA_DIR: ${dir} cannot be created or written (${code})`),
    );
});
