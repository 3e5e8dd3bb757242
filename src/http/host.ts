// The `Host` header of a request, and `:authority` of HTTP/2 (RFC 9110 §7.2).
import { isIPv6 } from "node:net";

/** A registered name, an IPv4 address, or an IPv6 address in brackets, and a port (RFC 3986 §3.2). */
const form = /^(?:\[([0-9a-f:.]+)\]|(?:[\w.~!$&'()*+,;=-]|%[0-9a-f]{2})+)(?::([0-9]{0,5}))?$/i;
const maxPort = 65_535;

/** Returns whether a host is valid. An empty one is not, because no URL of HTTP has one. */
export function isHost(value: string): boolean {
  const [whole, address, port = ""] = form.exec(value) ?? [];
  return whole !== undefined && (address === undefined || isIPv6(address)) && Number(port) <= maxPort;
}
