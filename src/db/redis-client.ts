// The client of Redis for each kind of REDIS_URL, and which of its masters holds a key.
import { Cluster, Command, Redis } from "ioredis";
import type { RedisOptions } from "ioredis";
import type { RedisCluster, SentinelGroup } from "../redis-url.ts";
import { parseRedisUrl } from "../redis-url.ts";
import { masterOptions, watchFailovers } from "./redis-sentinels.ts";

/** A client, and the masters that it knows. */
export interface RedisMasters {
  readonly client: Redis | Cluster;
  /**
   * The name of the master that holds a key, as `host:port` in a cluster; undefined where no node is known to hold it.
   * A server that is no cluster is one master, which holds everything.
   */
  masterOf(key: string): string | undefined;
  /** Every master that holds keys, with the connection to it; undefined where that is lost. */
  all(): ReadonlyMap<string, Redis | undefined>;
  /** Opens the connections to all masters, so that no request waits for one. */
  connectAll(): Promise<unknown>;
  /**
   * A key that this master holds, for a probe; undefined where it holds none any more, and for the whole of a cluster,
   * which is back as soon as it is connected: a master that is not is left by itself.
   */
  probeKeyOf(master: string): string | undefined;
  /**
   * Looks for the master anew, where this one responds and takes no writes: after a failover it may be another server.
   * A cluster names the new one by itself (MOVED).
   */
  lookAgain(): void;
  close(): void;
}

/** The one master of what is no cluster; of a cluster, the whole of it. */
export const whole = "";

const connection = {
  maxRetriesPerRequest: 0,
  connectTimeout: 2_000,
  // A host that is lost says nothing: without it the system would hold on to the connection for many minutes.
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
  /** Leaves the old master. One that is just being connected to is judged afterwards, once. */
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

/** A client that is still looking for its server would end for good. */
function reconnect(client: Redis): void {
  if (client.status === "ready") client.disconnect(true);
}

function oneMaster(client: Redis): RedisMasters {
  return {
    client,
    masterOf: () => whole,
    all: () => new Map([[whole, client]]),
    connectAll: () => Promise.resolve(),
    probeKeyOf: () => "probe",
    lookAgain: () => reconnect(client),
    close: () => client.disconnect(),
  };
}

function openCluster({ tls, nodes, credentials }: RedisCluster): RedisMasters {
  const client = new Cluster([...nodes], {
    redisOptions: { ...connection, ...credentials, ...(tls ? { tls: {} } : {}) },
    clusterRetryStrategy: retryStrategy,
    // By name, so that the certificates of nodes are checked for it.
    dnsLookup: (host, found) => found(null, host),
    // A command that fails is not repeated later: its caller has gone on without Redis.
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
    lookAgain: () => undefined,
    close: () => client.disconnect(),
  };
}

/** The slot of a cluster that a key is in. */
function slotOf(key: string): number {
  return new Command("get", [key]).getSlot();
}

/** The name of a node of a cluster, as it is among the masters. */
export function nameOf({ options: { host = "", port = 0 } }: Redis): string {
  return `${host}:${port}`;
}
