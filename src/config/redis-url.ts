// Parser of REDIS_URL: one server, the master of a Sentinel group, or a cluster.
import { isIPv6 } from "node:net";
import { ConfigError } from "./config-error.ts";

/** A host without brackets, and its port. */
export interface RedisNode {
  readonly host: string;
  readonly port: number;
}

/** The user and the password, decoded; absent if there are none. */
export interface RedisCredentials {
  readonly username?: string;
  readonly password?: string;
}

/** The Redis deployment that `REDIS_URL` names. */
export type RedisTarget = RedisServer | SentinelGroup | RedisCluster;

interface Target {
  /** True for the schemes that begin with `rediss`. Every connection then uses TLS, including those to Sentinels. */
  readonly tls: boolean;
  /** The nodes without duplicates: the server, the Sentinels of a group, or the seed nodes of a cluster. */
  readonly nodes: readonly RedisNode[];
  /** For the servers that hold data. */
  readonly credentials: RedisCredentials;
}

/** One server. */
export interface RedisServer extends Target {
  readonly kind: "server";
  readonly database: number;
}

/** A master that Sentinels monitor. */
export interface SentinelGroup extends Target {
  readonly kind: "sentinel";
  readonly database: number;
  /** The name by which the Sentinels know the master. */
  readonly master: string;
  /** For the Sentinels, which never receive the servers' credentials. */
  readonly sentinelCredentials: RedisCredentials;
}

/** A cluster, which has only database 0. */
export interface RedisCluster extends Target {
  readonly kind: "cluster";
}

const schemes = /^(rediss?)(?:\+(sentinel|cluster))?:\/\//;
const hostAndPort = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::([0-9]{1,5}))?$/i;
const sentinelOptions = ["sentinelUsername", "sentinelPassword"];

const forms = {
  server: "redis://host:port/database",
  sentinel: "redis+sentinel://host:port,host:port/name/database",
  cluster: "redis+cluster://host:port,host:port",
} as const;
const percent = "percent-encode special characters of a user or password, such as / as %2F and % as %25";

/** Parses the URL. Throws a ConfigError that repeats nothing of it. */
export function parseRedisUrl(url: string): RedisTarget {
  const [start, scheme, group] =
    schemes.exec(url) ?? wrong(`must begin with ${listed(Object.values(forms))}, with rediss for TLS`);
  const kind = group === "sentinel" || group === "cluster" ? group : "server";
  const form = forms[kind];
  if (url.includes("#")) wrong(`must have the form ${form}; ${percent}, and # as %23`);
  const [location = "", query] = splitOnce(url.slice(start.length), "?");
  const [authority = "", path = ""] = splitOnce(location, "/");
  const at = authority.lastIndexOf("@");
  const nodes = nodesOf(authority.slice(at + 1), kind === "sentinel" ? 26379 : 6379, form);
  const target = { tls: scheme === "rediss", nodes, credentials: credentialsOf(authority.slice(0, Math.max(0, at))) };
  if (kind === "sentinel") return sentinelGroup(target, path, query);
  if (kind === "cluster") {
    if (query !== undefined)
      wrong("must not have options for a cluster: remove the question mark and everything after it");
    if (path !== "" && path !== "0")
      wrong("must not name a database of a cluster, which has only database 0: remove the path");
    return { kind, ...target };
  }
  if (nodes.length > 1)
    wrong(`names several hosts: write ${forms.cluster} for a cluster, ${forms.sentinel} for a Sentinel group`);
  if (!URL.canParse(url)) wrong(`must have the form ${form}; ${percent}`);
  return { kind, ...target, database: databaseOf(path, form) };
}

function sentinelGroup(target: Target, path: string, query: string | undefined): SentinelGroup {
  const [master = "", database = ""] = splitOnce(path, "/");
  if (!/^[\w.-]+$/.test(master))
    wrong(`must name the master as the Sentinels do, in letters, digits and ._-: ${forms.sentinel}`);
  const options = new Map<string, string>();
  for (const option of query?.split("&") ?? []) {
    const [name = "", value = ""] = splitOnce(option, "=");
    if (!sentinelOptions.includes(name) || options.has(name))
      wrong(`may have only the options ${listed(sentinelOptions)}, each once; ${percent}, and & as %26`);
    options.set(name, decoded(value));
  }
  const [username = "", password = ""] = sentinelOptions.map((name) => options.get(name));
  return {
    kind: "sentinel",
    ...target,
    database: databaseOf(database, forms.sentinel),
    master,
    sentinelCredentials: credentials(username, password),
  };
}

function nodesOf(hosts: string, defaultPort: number, form: string): RedisNode[] {
  const nodes = new Map<string, RedisNode>();
  for (const one of hosts.split(",")) {
    const [, inBrackets, name = "", digits] = hostAndPort.exec(one) ?? wrong(`must have the form ${form}; ${percent}`);
    const port = digits === undefined ? defaultPort : Number(digits);
    if ((inBrackets !== undefined && !isIPv6(inBrackets)) || port < 1 || port > 65_535)
      wrong(`must name each host with a port from 1 to 65535, and an IPv6 address in brackets: ${form}`);
    const host = (inBrackets ?? name).toLowerCase();
    nodes.set(`${host} ${port}`, { host, port });
  }
  return [...nodes.values()];
}

function credentialsOf(userInfo: string): RedisCredentials {
  const [username = "", password = ""] = splitOnce(userInfo, ":").map(decoded);
  return credentials(username, password);
}

/** A user may have no password. */
function credentials(username: string, password: string): RedisCredentials {
  if (username !== "") return { username, password };
  return password === "" ? {} : { password };
}

function databaseOf(text: string, form: string): number {
  const digits = text.replace(/\/$/, "");
  return /^[0-9]{0,6}$/.test(digits) ? Number(digits) : wrong(`must end with the number of a database: ${form}`);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return wrong(`has a percent sign that does not encode a character; ${percent}`);
  }
}

/** Returns the parts before and after the first separator, or one part if there is none. */
function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function listed(forms: readonly string[]): string {
  return `${forms.slice(0, -1).join(", ")} or ${forms.at(-1) ?? ""}`;
}

function wrong(problem: string): never {
  throw new ConfigError("REDIS_URL", problem);
}
