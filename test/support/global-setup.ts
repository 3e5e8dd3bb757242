// Starts one real mongod for the whole run; every test file takes a database of its own in it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startMongod } from "../../src/embedded/mongod.ts";
import { administratorUri } from "../fixtures/databases/administrator.ts";
import { testCacheDir } from "../fixtures/databases/cache-dir.ts";
import { leftOut } from "./left-out.ts";

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  // The projects have what is provided here.
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
  // Each test file has a database of its own, and drops it.
  project.provide("administratorUri", await administratorUri(mongod.uri, dataDir));
  return async () => {
    if (notices !== "") console.warn(notices);
    await mongod.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
}
