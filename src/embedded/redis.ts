// Starts the embedded redis-server, which requires a password and may lose its data at any time.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { findRedis } from "./find-redis.ts";
import { messageOf } from "./program.ts";
import { loadOrCreateSecret, readSecret, writePrivate } from "./secrets.ts";
import { startServer, type EmbeddedOptions, type EmbeddedServer, type ServerKind } from "./server.ts";
import { until } from "./wait.ts";

const readyLine = "Ready to accept connections";

/**
 * Returns how to run a redis-server on the data folder, with the password of that folder. Creates a missing password.
 */
export async function redisOn(dataDir: string): Promise<ServerKind> {
  const password = await loadOrCreateSecret(dataDir, "redis-password");
  // Every user of this machine could read a password on the command line.
  const settings = join(dataDir, "redis.conf");
  await writePrivate(settings, `requirepass ${password}\n`);
  return {
    role: "redis",
    folder: "redis",
    arguments: (folder, logFile, port) => [
      ...[settings, "--bind", "127.0.0.1", "--port", String(port), "--daemonize", "no"],
      ...["--dir", folder, "--logfile", logFile, "--save", "", "--appendonly", "no"],
      // All of its data may vanish, with or without a time to live. Therefore, every key may be evicted, and no write
      // fails for lack of memory. The least recently used keys are evicted first, because an unused bucket is full
      // again.
      ...["--maxmemory", "64mb", "--maxmemory-policy", "allkeys-lru"],
    ],
    // Waits for a log line instead of logging in, which would send the password to another process on the port.
    ready: (_port, _pid, signal, logFile) => until(async () => (await textOf(logFile)).includes(readyLine), signal),
    uri: (port) => uriOf(port, password),
  };
}

/**
 * Finds or fetches a redis-server and starts it. Resolves once it responds. It ends with `stop()` or with this process,
 * even if that is killed. Its log is `dataDir/redis.log`. Resolves with undefined, and reports the reason as a line of
 * progress, if none is available or it does not start. The service works without Redis, whose data may vanish anyway.
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

/** Returns the URL of the data folder's redis-server at this port, or undefined if its password cannot be read. */
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
