// Which client-id metadata documents the provider fetches: those of public hosts alone, for anybody on this machine can
// make it fetch one.
import { isIP } from "node:net";

/** Suffixes of names that are of a private network or of no network (RFC 6761, RFC 6762, RFC 8375, RFC 9476). */
const privateSuffixes = [".localhost", ".local", ".internal", ".home.arpa", ".test", ".invalid", ".alt", ".onion"];

/**
 * Whether a client id is the address of a document that may be fetched: by HTTPS, from the usual port of a host with a
 * public name. Where such a name leads to a private address, the library breaks the connection off.
 */
export function mayFetch(clientId: string): boolean {
  if (!URL.canParse(clientId)) return false;
  const { protocol, hostname, port } = new URL(clientId);
  const name = hostname.replace(/\.$/, "").toLowerCase();
  if (protocol !== "https:" || port !== "" || !name.includes(".")) return false;
  return isIP(name) === 0 && !privateSuffixes.some((suffix) => name.endsWith(suffix));
}

/** The host of a client's metadata document, which is the client's proven name; undefined for any other client. */
export function documentHost(clientId: string): string | undefined {
  return mayFetch(clientId) ? new URL(clientId).host : undefined;
}
