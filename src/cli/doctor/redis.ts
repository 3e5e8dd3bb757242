// Checks Redis: connection, latency, version, memory, and whether it accepts writes. Writes nothing.
import type { Redis } from "ioredis";
import { replyCode } from "../../db/redis-code.ts";
import type { RedisTarget } from "../../config/redis-url.ts";
import { parseRedisUrl } from "../../config/redis-url.ts";
import type { Finding, Status, Verdict } from "./check.ts";
import { check, fault, note, ok, unchecked, warning } from "./check.ts";
import type { Clocks } from "./clocks.ts";
import { reasonOf } from "./reason.ts";
import type { FoundServer } from "./redis-servers.ts";
import { connect, findServers, missingRights } from "./redis-servers.ts";
import type { DoctorContext } from "./doctor-context.ts";

/** How long the service waits for Redis. After that, Redis counts as unavailable. */
const limitMs = 50;
const pings = 20;
const oldest: readonly [number, number] = [6, 2];
const without = "the service runs without it, each instance throttles on its own, and the health is degraded";

export async function checkRedis({ redisUrl, unusable, clocks }: DoctorContext): Promise<Finding[]> {
  const name = "redis.reachable";
  if (unusable("REDIS_URL")) return unchecked(name, "Not checked, because REDIS_URL is invalid.");
  if (redisUrl === undefined)
    return unchecked(
      name,
      "Embedded, and not running.",
      "Start the service (npm start), or set REDIS_URL to check your own.",
    );
  const { kind } = parseRedisUrl(redisUrl);
  const { verdict, servers } = await findServers(redisUrl);
  const each = await Promise.all(
    servers.map((server) =>
      checkServer(server, kind, servers.length > 1 ? `The clock of ${server.where}` : "Redis's clock", clocks),
    ),
  );
  return [...(verdict === undefined ? [] : [{ check: `redis.${kind}`, ...verdict }]), ...worstOf(each, servers)];
}

/** Returns one finding of each check if there are several masters: that of the master with the worst result. */
function worstOf(each: readonly Finding[][], servers: readonly FoundServer[]): Finding[] {
  if (each.length < 2) return each.flat();
  const all = each.flatMap((findings, at) =>
    findings.map(({ message, ...rest }) => ({
      ...rest,
      message: `${servers[at]?.where ?? ""}, of ${servers.length} masters: ${message}`,
    })),
  );
  const checks = [...new Set(all.map(({ check: name }) => name))];
  return checks.flatMap((name) =>
    all
      .filter((finding) => finding.check === name)
      .sort((one, other) => severity.indexOf(other.status) - severity.indexOf(one.status))
      .slice(0, 1),
  );
}

const severity: readonly Status[] = ["ok", "note", "warning", "fault"];

async function checkServer(
  { where, open }: FoundServer,
  kind: RedisTarget["kind"],
  owner: string,
  clocks: Clocks,
): Promise<Finding[]> {
  const client = open();
  let facts: ReadonlyMap<string, string> = new Map();
  try {
    const reachable = await check(
      "redis.reachable",
      async () => {
        await connect(client);
        // If the database does not exist, the client library ignores the error and uses 0.
        const { db = 0 } = client.options;
        // Database 0 always exists, and a proxy may not support the command.
        if (db !== 0)
          await client.select(db).catch((error: unknown) => {
            throw replyCode(error) === "ERR" ? new NoDatabase() : error;
          });
        facts = factsOf(await client.info());
        const sent = clocks.now();
        const [seconds = NaN, micros = NaN] = (await client.time()).map(Number);
        clocks.read("clock.redis", owner, seconds * 1_000 + micros / 1_000, sent);
        return ok(`${where} responds.`);
      },
      (error) => unreachable(error, where),
    );
    if (reachable.status === "fault") return [reachable];
    return [
      reachable,
      ...(await Promise.all([
        check("redis.version", () => version(facts)),
        check("redis.latency", async () => latency(await roundTrips(client))),
        check("redis.writable", () => writable(facts, kind)),
        check("redis.memory", () => memory(facts)),
      ])),
    ];
  } finally {
    client.disconnect();
  }
}

/** Thrown if the server rejects the database number. */
class NoDatabase extends Error {}

function unreachable(error: unknown, where: string): Verdict {
  if (error instanceof NoDatabase)
    return fault(
      `${where} names a database that does not exist. The service would use database 0, together with its other data.`,
      "Correct the number at the end of REDIS_URL, or remove it. CONFIG GET databases shows how many there are.",
    );
  const code = replyCode(error);
  if (code === "WRONGPASS" || code === "NOAUTH")
    return fault(
      `${where} rejects the user or the password.`,
      "Correct them in REDIS_URL, percent-encoded: redis://<user>:<password>@<host>:<port>.",
    );
  if (code === "NOPERM")
    return fault(`${where} responds, but the user may not use it: ${reasonOf(error)}.`, missingRights);
  return fault(
    `Redis cannot be reached at ${where}: ${reasonOf(error)}.`,
    `Make sure that redis-server runs there, and that REDIS_URL is right. Until then, ${without}.`,
  );
}

function factsOf(info: string): ReadonlyMap<string, string> {
  return new Map([...info.matchAll(/^(\w+):(.*?)\r?$/gm)].map(([, name = "", value = ""]) => [name, value]));
}

function version(facts: ReadonlyMap<string, string>): Verdict {
  // Valkey also reports the version of Redis that it is compatible with.
  const valkey = facts.get("valkey_version");
  if (valkey !== undefined) return ok(`Valkey ${valkey}.`);
  const running = facts.get("redis_version") ?? "";
  const [major = 0, minor = 0] = running.split(".").map(Number);
  if (major > oldest[0] || (major === oldest[0] && minor >= oldest[1])) return ok(`Redis ${running}.`);
  return warning(
    `Redis ${running || "of an unknown version"} is older than the versions that the service is tested with.`,
    `Upgrade to ${oldest.join(".")} or later.`,
  );
}

async function roundTrips(client: Redis): Promise<number[]> {
  const times: number[] = [];
  for (let count = 0; count < pings; count++) {
    const from = performance.now();
    await client.ping();
    times.push(performance.now() - from);
  }
  return times.sort((one, other) => one - other);
}

function latency(sorted: readonly number[]): Verdict {
  const middle = sorted[Math.floor(sorted.length / 2)] ?? NaN;
  // This machine can be the cause of a single slow round trip.
  const long = sorted.at(-2) ?? NaN;
  const text =
    `Median round trip: ${middle.toFixed(1)} ms. ` +
    `${sorted.length - 1} of ${sorted.length} took at most ${long.toFixed(1)}`;
  const nearer = "Run Redis on the same network as the service, and check its slow commands (SLOWLOG GET).";
  if (middle >= limitMs)
    return fault(`${text} ms. After ${limitMs} ms, Redis counts as unavailable, so ${without}.`, nearer);
  if (long >= limitMs)
    return warning(`${text} ms. After ${limitMs} ms, Redis counts as unavailable for a short time.`, nearer);
  return ok(`${text} ms.`);
}

function writable(facts: ReadonlyMap<string, string>, kind: RedisTarget["kind"]): Verdict {
  // Valkey reports `server_mode`.
  const mode = facts.get("redis_mode") ?? facts.get("server_mode");
  if (mode === "cluster" && kind !== "cluster")
    return fault(
      "This is a node of a Redis Cluster, but REDIS_URL names a single server: most keys are on other nodes.",
      "Set REDIS_URL to redis+cluster://<host>:<port>, with two or more of its nodes.",
    );
  if (mode === "sentinel")
    return fault(
      "This is a Sentinel, which has no data.",
      "Set REDIS_URL to redis+sentinel://<host>:<port>/<name>, with all Sentinels and the name of the master.",
    );
  if (facts.get("loading") === "1")
    return fault(
      "Redis is still loading its data, and accepts no commands.",
      "Wait until it is ready. Its log shows the progress.",
    );
  const replica = facts.get("role") === "slave";
  if (replica && facts.get("slave_read_only") !== "0")
    return fault(
      "This Redis is a read-only replica: the service cannot write to it.",
      `Set REDIS_URL to its master, ${facts.get("master_host") ?? ""}:${facts.get("master_port") ?? ""}.`,
    );
  if (replica)
    return warning("This Redis is a replica: writes to it are lost at the next sync.", "Set REDIS_URL to its master.");
  if (isFull(facts) && facts.get("maxmemory_policy") === "noeviction")
    return fault(
      "Redis is full and does not evict keys: every write fails.",
      "Run CONFIG SET maxmemory-policy allkeys-lru. The service can lose everything that it stores in Redis.",
    );
  if (facts.get("rdb_last_bgsave_status") === "err")
    return warning(
      "Redis could not save its last snapshot. With stop-writes-on-bgsave-error, it then rejects writes.",
      'Free space on its disk, or turn snapshots off (save ""). The service can lose everything that it stores in Redis.',
    );
  return ok("It is a master, and accepts writes.");
}

function memory(facts: ReadonlyMap<string, string>): Verdict {
  const maxMemory = Number(facts.get("maxmemory") ?? 0);
  const policy = facts.get("maxmemory_policy") ?? "unknown";
  const megabytes = (bytes: number): string => `${(bytes / 1_048_576).toFixed(0)} MB`;
  const used = Number(facts.get("used_memory") ?? 0);
  if (maxMemory === 0)
    return note(
      `${megabytes(used)} used, without a limit.`,
      "Set maxmemory (64mb is enough for the service alone) and maxmemory-policy allkeys-lru.",
    );
  const text = `${megabytes(used)} of ${megabytes(maxMemory)} used, policy ${policy}`;
  return policy === "noeviction"
    ? warning(
        `${text}: when it is full, writes fail.`,
        "Run CONFIG SET maxmemory-policy allkeys-lru. The service can lose everything that it stores in Redis.",
      )
    : ok(`${text}.`);
}

function isFull(facts: ReadonlyMap<string, string>): boolean {
  const maxMemory = Number(facts.get("maxmemory") ?? 0);
  return maxMemory > 0 && Number(facts.get("used_memory") ?? 0) >= maxMemory;
}
