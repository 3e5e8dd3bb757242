// Connections to the Sentinels of a group: finding the master, and noticing a failover while the old master still
// accepts writes.
import type { RedisOptions } from "ioredis";
import { Redis } from "ioredis";
import type { SentinelGroup } from "../config/redis-url.ts";

/** The time limit for a Sentinel's response, in milliseconds. */
const sentinelMs = 2_000;
const maxRetryMs = 5_000;
const switched = "+switch-master";

/** Returns the client options for the group's master. */
export function masterOptions({ tls, nodes, credentials, database, master, sentinelCredentials }: SentinelGroup) {
  const { username, password } = sentinelCredentials;
  return {
    sentinels: [...nodes],
    name: master,
    db: database,
    ...credentials,
    ...(username === undefined ? {} : { sentinelUsername: username }),
    ...(password === undefined ? {} : { sentinelPassword: password }),
    ...(tls ? { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true } : {}),
    sentinelCommandTimeout: sentinelMs,
  } satisfies RedisOptions;
}

/**
 * Calls back with the host and port of each new master, once for every Sentinel that reports it. Sentinels learn of a
 * failover one after the other; a late one still names the old master. Returns a function that stops watching.
 */
export function watchFailovers(
  { tls, nodes, master, sentinelCredentials }: SentinelGroup,
  onSwitch: (host: string, port: number) => void,
): () => void {
  const watchers = nodes.map((node) => {
    const watcher = new Redis({
      ...node,
      ...sentinelCredentials,
      ...(tls ? { tls: {} } : {}),
      connectTimeout: sentinelMs,
      keepAlive: 10_000,
      enableReadyCheck: false,
      maxRetriesPerRequest: null,
      retryStrategy: (attempt) => Math.min(maxRetryMs, 100 * attempt),
    });
    // A Sentinel may be unavailable; the others report the same.
    watcher.on("error", () => undefined);
    watcher.on("message", (_channel, text: string) => {
      const [name, , , host = "", port] = text.split(" ");
      if (name === master) onSwitch(host, Number(port));
    });
    watcher.subscribe(switched).catch(() => undefined);
    return watcher;
  });
  return () => {
    for (const watcher of watchers) watcher.disconnect();
  };
}
