// Starts the embedded redis-server: it holds only what may vanish.
import { connect } from "node:net";
import { findRedis } from "./find-redis.ts";
import { messageOf } from "./program.ts";
import { startServer, type EmbeddedOptions, type EmbeddedServer, type ServerKind } from "./server.ts";
import { until } from "./wait.ts";

export const redis: ServerKind = {
  role: "redis",
  folder: "redis",
  arguments: (folder, logFile, port) => [
    ...["--bind", "127.0.0.1", "--port", String(port), "--daemonize", "no"],
    ...["--dir", folder, "--logfile", logFile, "--save", "", "--appendonly", "no"],
    // Everything in it may vanish, with a time to live or without, so all of it may be evicted and a write never fails
    // for memory; the least recently used goes first, since a bucket nobody asks for is full again anyway.
    ...["--maxmemory", "64mb", "--maxmemory-policy", "allkeys-lru"],
  ],
  ready: (port, pid, signal) => until(() => isServedBy(port, pid), signal),
  uri: (port) => `redis://127.0.0.1:${port}`,
};

/**
 * Finds or fetches a redis-server and starts it; it answers when this resolves, and ends with `stop()` or with this
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
    return await startServer(redis, program, options);
  } catch (error) {
    options.progress(`No Redis: ${messageOf(error)}`);
    return undefined;
  }
}

/** Whether the Redis that answers on the port is the process with this pid: another may have taken the port before it. */
function isServedBy(port: number, pid: number): Promise<boolean> {
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(port, "127.0.0.1", () => socket.end("INFO server\r\n"));
    socket.on("data", (chunk) => (answer += chunk.toString()));
    socket.once("error", () => resolve(false)).once("close", () => resolve(answer.includes(`\r\nprocess_id:${pid}\r\n`)));
  });
}
