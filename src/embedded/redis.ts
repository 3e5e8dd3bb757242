// Starts the embedded redis-server: it requires a password, and its data may be lost at any time.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { findRedis } from "./find-redis.ts";
import { messageOf } from "./program.ts";
import { keptSecret, readSecret, writePrivate } from "./secrets.ts";
import { startServer, type EmbeddedOptions, type EmbeddedServer, type ServerKind } from "./server.ts";
import { until } from "./wait.ts";

const readyLine = "Ready to accept connections";

/** A redis-server on the data folder, with the password of that folder; a missing one is created. */
export async function redisOn(dataDir: string): Promise<ServerKind> {
  const password = await keptSecret(dataDir, "redis-password");
  // On the command line every user of this machine could read it.
  const settings = join(dataDir, "redis.conf");
  await writePrivate(settings, `requirepass ${password}\n`);
  return {
    role: "redis",
    folder: "redis",
    arguments: (folder, logFile, port) => [
      ...[settings, "--bind", "127.0.0.1", "--port", String(port), "--daemonize", "no"],
      ...["--dir", folder, "--logfile", logFile, "--save", "", "--appendonly", "no"],
      // Everything in it may vanish, with a time to live or without, so all of it may be evicted and a write never
      // fails for memory; the least recently used keys are evicted first, because an unused bucket is full again.
      ...["--maxmemory", "64mb", "--maxmemory-policy", "allkeys-lru"],
    ],
    // Waits for its log and does not log in: another process on the port would receive the password.
    ready: (_port, _pid, signal, logFile) => until(async () => (await textOf(logFile)).includes(readyLine), signal),
    uri: (port) => uriOf(port, password),
  };
}

/**
 * Finds or fetches a redis-server and starts it; it responds when this resolves, and ends with `stop()` or with this
 * process, however that ends. Its log is `dataDir/redis.log`.
 * Undefined, with a line of progress that says why, where none can be had or it does not start: the service can do
 * without what may vanish.
 */
export async function startRedis(options: EmbeddedOptions): Promise<EmbeddedServer | undefined> {
  const program = await findRedis(options);
  if (Array.isArray(program)) {
    options.progress(`No Redis: ${program.join("; ")}. Install redis-server, or set REDIS_URL.`);
    return undefined;
  }
  try {
    return await startServer(await redisOn(options.dataDir), program, options);
  } catch (error) {
    options.progress(`No Redis: ${messageOf(error)}`);
    return undefined;
  }
}

/** The URL of the redis-server of the data folder at this port; undefined where its password cannot be read. */
export async function redisUrl(dataDir: string, port: number): Promise<string | undefined> {
  const password = await readSecret(dataDir, "redis-password").catch(() => undefined);
  return password === undefined ? undefined : uriOf(port, password);
}

function uriOf(port: number, password: string): string {
  return `redis://:${password}@127.0.0.1:${port}`;
}

async function textOf(file: string): Promise<string> {
  return readFile(file, "utf8").catch(() => "");
}
