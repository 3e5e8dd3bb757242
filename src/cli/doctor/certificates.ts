// Checks the expiry of the certificates of BASE_URL, MCP_URL, the provider, MongoDB and Redis, if these use TLS.
import { resolveSrv } from "node:dns/promises";
import { isIP } from "node:net";
import { connect } from "node:tls";
import { MongoClient } from "mongodb";
import { withDatabase } from "../../db/mongo.ts";
import { parseRedisUrl } from "../../config/redis-url.ts";
import { withTimeout } from "../../call/time-limit.ts";
import type { Finding, Verdict } from "./check.ts";
import { check, fault, note, ok, warning } from "./check.ts";
import { reasonOf } from "./reason.ts";
import { waitMs } from "./request.ts";
import type { DoctorContext } from "./doctor-context.ts";

/** A server that uses TLS. */
interface Server {
  /** The variable that names the server. */
  readonly variable: string;
  readonly host: string;
  readonly port: number;
}

const dayMs = 86_400_000;
const soonDays = 14;

/** Returns one finding for each server that uses TLS. */
export async function checkCertificates({
  config,
  mongodbUri,
  redisUrl,
  provider,
  unusable,
  now,
}: DoctorContext): Promise<Finding[]> {
  const urls = [
    ["BASE_URL", config.baseUrl],
    ["MCP_URL", config.mcpUrl],
    ["OIDC_ISSUER", provider?.issuer],
  ] as const;
  const servers = urls.flatMap(([variable, url]) =>
    url === undefined || unusable(variable) ? [] : serverOf(variable, url),
  );
  const redisServers = redisUrl === undefined || unusable("REDIS_URL") ? [] : redisNodes(redisUrl);
  // The checks of MongoDB report a name server that does not respond.
  const members =
    mongodbUri === undefined || unusable("MONGODB_URI")
      ? []
      : await withTimeout(waitMs, mongoServers(mongodbUri), () => []).catch(() => []);
  const all = [...servers, ...redisServers, ...members];
  // Report a server only once, even if several variables name it.
  const each = all.filter(
    ({ host, port }, at) => all.findIndex((other) => other.host === host && other.port === port) === at,
  );
  return Promise.all(
    each.map((server) =>
      check(
        `certificates.${server.variable}`,
        () => expiry(server, now()),
        (error) => unread(server, error),
      ),
    ),
  );
}

function serverOf(variable: string, url: string): Server[] {
  const { protocol, hostname, port } = new URL(url);
  return protocol === "https:" ? [{ variable, host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) || 443 }] : [];
}

/** Returns the servers that REDIS_URL names. For a group, these are the Sentinels or some of the nodes. */
function redisNodes(url: string): Server[] {
  const { tls, nodes } = parseRedisUrl(url);
  return tls ? nodes.map((node) => ({ variable: "REDIS_URL", ...node })) : [];
}

async function mongoServers(uri: string): Promise<Server[]> {
  const { tls, srvHost, hosts } = new MongoClient(withDatabase(uri)).options;
  if (srvHost !== undefined)
    return (await resolveSrv(`_mongodb._tcp.${srvHost}`)).map(({ name, port }) => ({
      variable: "MONGODB_URI",
      host: name,
      port,
    }));
  return tls ? hosts.map(({ host, port }) => ({ variable: "MONGODB_URI", host: host ?? "", port: port ?? 27017 })) : [];
}

async function expiry(server: Server, now: number): Promise<Verdict> {
  const { from, until } = await validity(server);
  const days = Math.floor((until.getTime() - now) / dayMs);
  const what = `The certificate of ${server.host}:${server.port} (${server.variable})`;
  const date = until.toISOString().slice(0, 10);
  const renew = "Renew it there, and automate the renewal.";
  if (days < 0) return fault(`${what} expired on ${date}: clients reject it.`, renew);
  // For a certificate that is issued for a few days, soon means the last third of its lifetime.
  if (days < soonDays && until.getTime() - now < (until.getTime() - from.getTime()) / 3)
    return warning(`${what} expires on ${date}, in ${days} ${days === 1 ? "day" : "days"}.`, renew);
  return ok(`${what} is valid until ${date}.`);
}

/** Returns the validity of a server's certificate. Other checks verify its trust, so this one sends no data. */
function validity({ host, port }: Server): Promise<{ readonly from: Date; readonly until: Date }> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port,
      timeout: waitMs,
      rejectUnauthorized: false,
      ...(isIP(host) === 0 ? { servername: host } : {}),
    });
    // Not `once`: a connection can fail again after it has ended.
    socket.on("error", reject);
    socket.once("close", () => reject(new Error("the connection was closed")));
    socket.once("timeout", () => socket.destroy(new DOMException("no response arrived in time", "TimeoutError")));
    socket.once("secureConnect", () => {
      const { valid_from: from, valid_to: until } = socket.getPeerCertificate();
      resolve({ from: new Date(from), until: new Date(until) });
      socket.destroy();
    });
  });
}

function unread({ variable, host, port }: Server, error: Error): Verdict {
  return note(
    `The certificate of ${host}:${port} (${variable}) cannot be read: ${reasonOf(error)}.`,
    "See the checks in that group first.",
  );
}
