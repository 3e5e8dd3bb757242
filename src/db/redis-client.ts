// The Redis client for each kind of REDIS_URL, and the master that holds each key.
import { Cluster, Command, Redis } from "ioredis";
import type { RedisOptions } from "ioredis";
import type { RedisCluster, SentinelGroup } from "../config/redis-url.ts";
import { parseRedisUrl } from "../config/redis-url.ts";
import { masterOptions, watchFailovers } from "./redis-sentinels.ts";

/** A client and the masters it knows. */
export interface RedisMasters {
  readonly client: Redis | Cluster;
  /**
   * Returns the name of the master that holds a key, `host:port` in a cluster; undefined if no known node holds it.
   * Without a cluster, one master holds everything.
   */
  masterOf(key: string): string | undefined;
  /** Returns every master that holds keys, with its connection; undefined if the connection is lost. */
  all(): ReadonlyMap<string, Redis | undefined>;
  /** Opens the connections to all masters, so that no request waits for one. */
  connectAll(): Promise<unknown>;
  /**
   * Returns a key of this master for a probe; undefined if it no longer holds any. Also undefined for a cluster as a
   * whole, which is available once connected, because each unavailable master is tracked separately.
   */
  probeKeyOf(master: string): string | undefined;
  /**
   * Reconnects if the current master responds but rejects writes: after a failover, another server may be master. A
   * cluster names the new master itself (MOVED).
   */
  rediscoverMaster(): void;
  close(): void;
}

/** The name of the only master without a cluster, and of a cluster as a whole. */
export const onlyMaster = "";

const connection = {
  maxRetriesPerRequest: 0,
  connectTimeout: 2_000,
  // A lost host sends nothing, and the operating system would keep the connection for many minutes.
  socketTimeout: 2_000,
} satisfies RedisOptions;
const retryStrategy = (attempt: number): number => Math.min(1_000, 50 * attempt);

/** Connects in the background. */
export function openRedis(url: string): RedisMasters {
  const target = parseRedisUrl(url);
  if (target.kind === "cluster") return openCluster(target);
  const options = { ...connection, retryStrategy, enableOfflineQueue: false };
  if (target.kind === "server") return oneMaster(new Redis(url, options));
  return masterOfGroup(
    target,
    new Redis({ ...options, ...masterOptions(target), sentinelRetryStrategy: retryStrategy }),
  );
}

function masterOfGroup(group: SentinelGroup, client: Redis): RedisMasters {
  let announced: string | undefined;
  /** Leaves the old master. Waits for a connection under way before it decides. */
  const follow = (): void => {
    if (client.status !== "ready" || announced === undefined) return;
    const { remoteAddress = "", remotePort = 0 } = client.stream;
    if (announced !== `${remoteAddress} ${remotePort}`) reconnect(client);
    announced = undefined;
  };
  client.on("ready", follow);
  const unwatch = watchFailovers(group, (host, port) => {
    announced = `${host} ${port}`;
    follow();
  });
  return {
    ...oneMaster(client),
    close() {
      unwatch();
      client.disconnect();
    },
  };
}

/** Reconnects only a ready client: one that is still looking for its server would end permanently. */
function reconnect(client: Redis): void {
  if (client.status === "ready") client.disconnect(true);
}

function oneMaster(client: Redis): RedisMasters {
  return {
    client,
    masterOf: () => onlyMaster,
    all: () => new Map([[onlyMaster, client]]),
    connectAll: () => Promise.resolve(),
    probeKeyOf: () => "probe",
    rediscoverMaster: () => reconnect(client),
    close: () => client.disconnect(),
  };
}

function openCluster({ tls, nodes, credentials }: RedisCluster): RedisMasters {
  const client = new Cluster([...nodes], {
    redisOptions: { ...connection, ...credentials, ...(tls ? { tls: {} } : {}) },
    clusterRetryStrategy: retryStrategy,
    // Keeps the host name, against which the certificates of nodes are checked.
    dnsLookup: (host, found) => found(null, host),
    // A failed command is not retried later, because its caller has continued without Redis.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
  });
  const masterOf = (key: string): string | undefined => client.slots[slotOf(key)]?.[0];
  return {
    client,
    masterOf,
    all() {
      const connections = new Map(client.nodes("master").map((node) => [nameOf(node), node]));
      const names = new Set(client.slots.map(([master]) => master).filter((master) => master !== undefined));
      return new Map([...names].map((name) => [name, connections.get(name)]));
    },
    connectAll: () => Promise.allSettled(client.nodes("master").map((node) => node.ping())),
    probeKeyOf(master) {
      if (!client.slots.some(([holder]) => holder === master)) return undefined;
      for (let number = 0; ; number++) if (masterOf(`probe:${number}`) === master) return `probe:${number}`;
    },
    rediscoverMaster: () => undefined,
    close: () => client.disconnect(),
  };
}

/** Returns the cluster slot of a key. */
function slotOf(key: string): number {
  return new Command("get", [key]).getSlot();
}

/** Returns the name of a cluster node, as used for masters. */
export function nameOf({ options: { host = "", port = 0 } }: Redis): string {
  return `${host}:${port}`;
}
