// Finds the masters of REDIS_URL for the doctor: one server, the master of a Sentinel group, or those of a cluster.
import type { RedisOptions } from "ioredis";
import { Redis } from "ioredis";
import { replyCode } from "../../db/redis-code.ts";
import type { RedisCluster, RedisCredentials, RedisNode, SentinelGroup } from "../../config/redis-url.ts";
import { parseRedisUrl } from "../../config/redis-url.ts";
import type { Verdict } from "./check.ts";
import { fault, ok, warning } from "./check.ts";
import { reasonOf } from "./reason.ts";
import { shownUri } from "./redaction.ts";

/** A server that holds data. */
export interface FoundServer {
  /** The address for display. */
  readonly where: string;
  /** Returns a client that is not connected yet. */
  open(): Redis;
}

/** The masters, and the verdict on the Sentinels or the cluster. A single server has no verdict. */
export interface FoundServers {
  readonly verdict: Verdict | undefined;
  readonly servers: readonly FoundServer[];
}

/** The doctor connects once, and waits only a short time for each server. */
const once = {
  lazyConnect: true,
  connectTimeout: 3_000,
  commandTimeout: 3_000,
  maxRetriesPerRequest: 0,
  retryStrategy: () => null,
} satisfies RedisOptions;

/** The options that differ between servers, besides the address. */
type Options = RedisCredentials & { readonly db?: number; readonly enableReadyCheck?: boolean; readonly tls?: object };

/** Connects the client. Rejects with the error that prevented the connection. */
export async function connect(client: Redis): Promise<void> {
  let trouble: Error | undefined;
  client.on("error", (error: Error) => (trouble = error));
  await client.connect().catch((error: unknown) => {
    throw trouble ?? error;
  });
}

/** Finds the masters of a valid URL. Never rejects: the verdict reports a server that cannot be reached. */
export async function findServers(url: string): Promise<FoundServers> {
  const target = parseRedisUrl(url);
  if (target.kind === "sentinel") return querySentinels(target);
  if (target.kind === "cluster") return queryCluster(target);
  return { verdict: undefined, servers: [{ where: shownUri(url), open: () => new Redis(url, once) }] };
}

function serverAt(node: RedisNode, options: Options): FoundServer {
  return { where: shownNode(node), open: () => new Redis({ ...once, ...node, ...options }) };
}

function shownNode({ host, port }: RedisNode): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/**
 * Sends the same query to all nodes. Returns the replies, the nodes without a reply, and the error of the first of
 * these.
 */
async function queryAll<T>(
  nodes: readonly RedisNode[],
  options: Options,
  query: (client: Redis) => Promise<T>,
): Promise<{ readonly responses: readonly T[]; readonly silent: readonly string[]; readonly error: unknown }> {
  const all = await Promise.allSettled(
    nodes.map(async (node) => {
      const client = serverAt(node, options).open();
      try {
        await connect(client);
        return await query(client);
      } finally {
        client.disconnect();
      }
    }),
  );
  const failed = all.flatMap((one, at) => (one.status === "rejected" ? [{ at, reason: one.reason as unknown }] : []));
  return {
    responses: all.flatMap((one) => (one.status === "fulfilled" ? [one.value] : [])),
    silent: nodes.filter((_, at) => failed.some((one) => one.at === at)).map(shownNode),
    error: failed[0]?.reason,
  };
}

async function querySentinels({
  nodes,
  tls,
  master,
  credentials,
  database: db,
  sentinelCredentials,
}: SentinelGroup): Promise<FoundServers> {
  const secure = tls ? { tls: {} } : {};
  const options = { ...sentinelCredentials, ...secure, enableReadyCheck: false };
  const { responses, silent, error } = await queryAll(
    nodes,
    options,
    async (client) => (await client.call("SENTINEL", "get-master-addr-by-name", master)) as [string, string] | null,
  );
  if (responses.length === 0) return { verdict: noSentinel(silent, error), servers: [] };
  const known = responses.find((address) => address !== null);
  if (known === undefined || known === null)
    return {
      verdict: fault(
        `The Sentinels do not know a master named ${master}.`,
        "Correct the name at the end of REDIS_URL. SENTINEL MASTERS lists the masters of a Sentinel.",
      ),
      servers: [],
    };
  const node = { host: known[0], port: Number(known[1]) };
  const verdict = someSilent(silent, error) ?? ok(`The Sentinels name ${shownNode(node)} as the master ${master}.`);
  return { verdict, servers: [serverAt(node, { ...credentials, ...secure, db })] };
}

/** Returns the warning about servers of REDIS_URL that do not respond; undefined if all do. */
function someSilent(silent: readonly string[], error: unknown): Verdict | undefined {
  if (silent.length === 0) return undefined;
  return warning(
    `These servers of REDIS_URL do not respond: ${silent.join(", ")}; ${reasonOf(error)}.`,
    "Start them, or name others. A start needs one that responds.",
  );
}

function noSentinel(silent: readonly string[], error: unknown): Verdict {
  const code = replyCode(error);
  if (code === "NOAUTH" || code === "WRONGPASS" || code === "NOPERM")
    return fault(
      `The Sentinels reject the user or the password: ${silent.join(", ")}.`,
      "Set theirs in REDIS_URL: redis+sentinel://…/<name>?sentinelPassword=<password>, and sentinelUsername if they have users.",
    );
  if (code === "ERR")
    return fault(
      `These servers are not Sentinels: ${silent.join(", ")}.`,
      "Name the Sentinels, usually on port 26379, or set REDIS_URL to redis:// for a single server.",
    );
  return fault(
    `No Sentinel can be reached at ${silent.join(", ")}: ${reasonOf(error)}.`,
    "Make sure that the Sentinels run there, and that REDIS_URL is right.",
  );
}

/** What to do if the user lacks rights. */
export const missingRights = "Grant it the rights that docs/production.md lists under Redis, on every server.";

async function queryCluster({ nodes, tls, credentials }: RedisCluster): Promise<FoundServers> {
  const options = { ...credentials, ...(tls ? { tls: {} } : {}) };
  const { responses, silent, error } = await queryAll(nodes, options, async (client) => ({
    state: /^cluster_state:(\w+)/m.exec(String(await client.cluster("INFO")))?.[1] ?? "unknown",
    masters: (await client.cluster("SLOTS")).map(([, , [host = "", port = 0] = []]) => ({ host, port })),
  }));
  const [response] = responses;
  if (response === undefined) return { verdict: noCluster(silent, error), servers: [] };
  const masters = [...new Map(response.masters.map((node) => [shownNode(node), node])).values()];
  const verdict =
    response.state === "ok"
      ? (someSilent(silent, error) ?? ok(`The cluster is up, with ${masters.length} masters.`))
      : fault(
          `The cluster is down: its state is ${response.state}.`,
          "Run CLUSTER INFO and CLUSTER NODES, and restore the missing masters.",
        );
  return { verdict, servers: masters.map((node) => serverAt(node, options)) };
}

function noCluster(silent: readonly string[], error: unknown): Verdict {
  const code = replyCode(error);
  if (code === "NOAUTH" || code === "WRONGPASS")
    return fault(
      `The cluster rejects the user or the password: ${silent.join(", ")}.`,
      "Correct them in REDIS_URL, percent-encoded, or set them on every node.",
    );
  if (code === "NOPERM")
    return fault(
      `The cluster accepts the user, but it lacks rights at ${silent.join(", ")}: ${reasonOf(error)}.`,
      missingRights,
    );
  if (code === "ERR")
    return fault(
      `These servers are not nodes of a cluster: ${silent.join(", ")}.`,
      "Set REDIS_URL to redis:// for a single server, or to redis+sentinel:// for a Sentinel group.",
    );
  return fault(
    `No node of the cluster can be reached at ${silent.join(", ")}: ${reasonOf(error)}.`,
    "Make sure that the nodes run there, and that REDIS_URL is right.",
  );
}
