// The parts that a fresh machine lacks: starts those that are not configured, and keeps the secrets that they need.
import { randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config.ts";
import { lockDataDir } from "./data-dir.ts";
import { startMongod } from "./mongod.ts";
import { startRedis } from "./redis.ts";
import type { EmbeddedServer } from "./server.ts";

/** Where the parts are, embedded or configured. */
export interface Embedded {
  readonly mongodbUri: string;
  readonly redisUrl: string | undefined;
  readonly serviceTokens: readonly string[];
  /** The servers that were started here; undefined where one is configured. */
  readonly mongod: EmbeddedServer | undefined;
  readonly redis: EmbeddedServer | undefined;
  stop(): Promise<void>;
}

/** Starts what is not configured, both at once. Rejects with one line when MongoDB cannot be had. */
export async function startEmbedded(config: Config, progress: (line: string) => void): Promise<Embedded> {
  const { dataDir, cacheDir, mongodbUri, redisUrl, serviceTokens } = config;
  const nothing = { mongod: undefined, redis: undefined };
  if (mongodbUri !== undefined && redisUrl !== undefined && serviceTokens !== undefined) {
    return { mongodbUri, redisUrl, serviceTokens, ...nothing, stop: () => Promise.resolve() };
  }
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const lock = await lockDataDir(dataDir);
  const options = { dataDir, cacheDir, env: process.env, progress };
  const [mongod, redis] = await Promise.allSettled([
    mongodbUri === undefined ? startMongod(options) : undefined,
    redisUrl === undefined ? startRedis(options) : undefined,
  ]);
  const started = [mongod, redis].flatMap((part) => (part.status === "fulfilled" && part.value !== undefined ? [part.value] : []));
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((server) => server.stop()));
    await lock.release();
  };
  if (mongod.status === "rejected" || redis.status === "rejected") {
    await stop();
    throw mongod.status === "rejected" ? mongod.reason : (redis as PromiseRejectedResult).reason;
  }
  return {
    mongodbUri: mongodbUri ?? (mongod.value as EmbeddedServer).uri,
    redisUrl: redisUrl ?? redis.value?.uri,
    serviceTokens: serviceTokens ?? [await keptSecret(join(dataDir, "service-token"))],
    mongod: mongod.value,
    redis: redis.value,
    stop,
  };
}

/** A secret that is made once and kept in a file for its owner alone. */
async function keptSecret(file: string): Promise<string> {
  await writeFile(file, randomBytes(32).toString("base64url"), { mode: 0o600, flag: "wx" }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  return (await readFile(file, "utf8")).trim();
}
