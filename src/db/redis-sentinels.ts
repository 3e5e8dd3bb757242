// Connections to the Sentinels of a group: how the master is found, and word of a failover while the old one still
// takes writes.
import type { RedisOptions } from "ioredis";
import { Redis } from "ioredis";
import type { SentinelGroup } from "../redis-url.ts";

/** Time for a Sentinel to respond, in milliseconds. */
const sentinelMs = 2_000;
const mostRetryMs = 5_000;
const switched = "+switch-master";

/** The options of a client of the group's master. */
export function masterOptions({ tls, nodes, credentials, database, master, sentinelCredentials }: SentinelGroup) {
  const { username, password } = sentinelCredentials;
  return {
    sentinels: [...nodes],
    ...{ name: master, db: database, ...credentials },
    ...(username === undefined ? {} : { sentinelUsername: username }),
    ...(password === undefined ? {} : { sentinelPassword: password }),
    ...(tls ? { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true } : {}),
    sentinelCommandTimeout: sentinelMs,
  } satisfies RedisOptions;
}

/**
 * Calls back with the host and the port of each new master, once for every Sentinel that learns of it: they learn of it
 * one after the other, and one that has not yet still names the old master. The result ends it.
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
      retryStrategy: (attempt) => Math.min(mostRetryMs, 100 * attempt),
    });
    // A Sentinel may be away: the others report the same.
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
