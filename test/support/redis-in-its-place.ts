// Starts an empty Redis in place of one that has stopped.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { findRedis } from "../../src/embedded/find-redis.ts";
import { redisOn } from "../../src/embedded/redis.ts";
import type { EmbeddedServer } from "../../src/embedded/server.ts";
import { startServer } from "../../src/embedded/server.ts";
import { testCacheDir } from "./global-setup.ts";

/** Starts one on the port and with the password of the URL, on an empty data folder. */
export async function startInItsPlace(url: string, dataDir: string): Promise<EmbeddedServer> {
  const { port, password } = new URL(url);
  const options = { dataDir, cacheDir: testCacheDir(), env: process.env, progress: () => undefined };
  const program = await findRedis(options);
  if (Array.isArray(program)) throw new Error(program.join("; "));
  writeFileSync(join(dataDir, "redis-password"), password);
  return startServer(await redisOn(dataDir), program, options, () => Promise.resolve(Number(port)));
}
