// Starts one real mongod for the whole run. Every test file creates its own database on it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startMongod } from "../../src/embedded/mongod.ts";
import { administratorUri } from "../fixtures/databases/administrator.ts";
import { testCacheDir } from "../fixtures/databases/cache-dir.ts";
import { leftOut } from "./left-out.ts";

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  // Projects inherit what the root project provides.
  if (!project.isRootProject()) return undefined;
  const notices = leftOut.map(({ notice }) => `\n${notice}`).join("");
  if (notices !== "") console.warn(`${notices}\n`);
  const dataDir = mkdtempSync(join(tmpdir(), "records-test-"));
  const mongod = await startMongod({
    dataDir,
    cacheDir: testCacheDir(),
    env: process.env,
    progress: (line) => console.log(line),
  });
  // Each test file creates and drops its own database.
  project.provide("administratorUri", await administratorUri(mongod.uri, dataDir));
  return async () => {
    if (notices !== "") console.warn(notices);
    await mongod.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
}
