// Looks when the certificates expire of everything that is reached by TLS: BASE_URL, the provider, MongoDB and Redis.
import { resolveSrv } from "node:dns/promises";
import { isIP } from "node:net";
import { connect } from "node:tls";
import { MongoClient } from "mongodb";
import { withDatabase } from "../../db/mongo.ts";
import type { Finding, Verdict } from "./check.ts";
import { check, fault, note, ok, warning } from "./check.ts";
import { reasonOf } from "./reason.ts";
import type { Surroundings } from "./surroundings.ts";

/** A server that is reached by TLS. */
interface Server {
  /** The variable that names it. */
  readonly variable: string;
  readonly host: string;
  readonly port: number;
}

const waitMs = 4_000;
const dayMs = 86_400_000;
const soonDays = 14;

/** One finding for each server; none where nothing is reached by TLS. */
export async function checkCertificates({ config, mongodbUri, redisUrl, provider, unusable, now }: Surroundings): Promise<Finding[]> {
  const urls = [["BASE_URL", config.baseUrl, 443], ["MCP_URL", config.mcpUrl, 443], ["OIDC_ISSUER", provider?.issuer, 443], ["REDIS_URL", redisUrl, 6379]] as const;
  const servers = urls.flatMap(([variable, url, port]) => (url === undefined || unusable(variable) ? [] : serverOf(variable, url, port)));
  const members = mongodbUri === undefined || unusable("MONGODB_URI") ? [] : await mongoServers(mongodbUri).catch(() => []);
  const all = [...servers, ...members];
  // One certificate is one finding, whatever leads to it.
  const each = all.filter(({ host, port }, at) => all.findIndex((other) => other.host === host && other.port === port) === at);
  return Promise.all(each.map((server) => check(`certificates.${server.variable}`, () => expiry(server, now()), (error) => unread(server, error))));
}

function serverOf(variable: string, url: string, port: number): Server[] {
  const { protocol, hostname, port: given } = new URL(url);
  return protocol === "https:" || protocol === "rediss:" ? [{ variable, host: hostname.replace(/^\[|\]$/g, ""), port: Number(given) || port }] : [];
}

async function mongoServers(uri: string): Promise<Server[]> {
  const { tls, srvHost, hosts } = new MongoClient(withDatabase(uri)).options;
  if (srvHost !== undefined) return (await resolveSrv(`_mongodb._tcp.${srvHost}`)).map(({ name, port }) => ({ variable: "MONGODB_URI", host: name, port }));
  return tls ? hosts.map(({ host, port }) => ({ variable: "MONGODB_URI", host: host ?? "", port: port ?? 27017 })) : [];
}

async function expiry(server: Server, now: number): Promise<Verdict> {
  const until = await validUntil(server);
  const days = Math.floor((until.getTime() - now) / dayMs);
  const what = `The certificate of ${server.host}:${server.port} (${server.variable})`;
  const date = until.toISOString().slice(0, 10);
  const renew = "Renew it there, and have that happen by itself from then on.";
  if (days < 0) return fault(`${what} expired on ${date}: clients reject it.`, renew);
  if (days < soonDays) return warning(`${what} expires on ${date}, in ${days} ${days === 1 ? "day" : "days"}.`, renew);
  return ok(`${what} is valid until ${date}.`);
}

/** Whether it is trusted is for the other checks: nothing is sent to the server. */
function validUntil({ host, port }: Server): Promise<Date> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, timeout: waitMs, rejectUnauthorized: false, ...(isIP(host) === 0 ? { servername: host } : {}) });
    // It goes on listening: a connection that is broken off may fail once more.
    socket.on("error", reject);
    socket.once("close", () => reject(new Error("the connection was ended")));
    socket.once("timeout", () => socket.destroy(new DOMException("no response came in time", "TimeoutError")));
    socket.once("secureConnect", () => {
      resolve(new Date(socket.getPeerCertificate().valid_to));
      socket.destroy();
    });
  });
}

function unread({ variable, host, port }: Server, error: Error): Verdict {
  return note(`The certificate of ${host}:${port} (${variable}) cannot be read: ${reasonOf(error)}.`, "See the group of that part first.");
}
