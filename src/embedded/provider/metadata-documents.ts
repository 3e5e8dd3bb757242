// Selects the client ID metadata documents that the provider fetches: only those on public hosts, because any local
// user can trigger a fetch.
import { isIP } from "node:net";

/** Suffixes of names that belong to a private network or to none (RFC 6761, RFC 6762, RFC 8375, RFC 9476). */
const privateSuffixes = [".localhost", ".local", ".internal", ".home.arpa", ".test", ".invalid", ".alt", ".onion"];

/**
 * Whether a client ID is the URL of a document that may be fetched: HTTPS, the default port, and a host with a public
 * name. If the name resolves to a private address, the library breaks the connection off.
 */
export function mayFetch(clientId: string): boolean {
  if (!URL.canParse(clientId)) return false;
  const { protocol, hostname, port } = new URL(clientId);
  const name = hostname.replace(/\.$/, "").toLowerCase();
  if (protocol !== "https:" || port !== "" || !name.includes(".")) return false;
  return isIP(name) === 0 && !privateSuffixes.some((suffix) => name.endsWith(suffix));
}

/**
 * Returns the host of a client's metadata document, which is the client's verified name, or undefined for any other
 * client.
 */
export function documentHost(clientId: string): string | undefined {
  return mayFetch(clientId) ? new URL(clientId).host : undefined;
}
