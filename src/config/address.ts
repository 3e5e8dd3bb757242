// Client addresses: their canonical form, and the network that counts as one client.
import { isIPv4, isIPv6 } from "node:net";

/**
 * Returns the address in a text, in its canonical form: without a port or a zone. An IPv4-mapped IPv6 address becomes
 * the IPv4 address. Returns undefined if the text is not an address.
 */
export function addressOf(text: string): string | undefined {
  const host = hostOf(text.trim());
  if (isIPv4(host)) return host;
  const [bare = ""] = host.split("%", 1);
  if (!isIPv6(bare)) return undefined;
  const groups = groupsOf(bare);
  if (groups.slice(0, 6).join(":") === "0:0:0:0:0:ffff") return groups.slice(6).flatMap(bytesOf).join(".");
  return spelled(bare);
}

/**
 * Returns the network that counts as one client: an IPv4 address, or the /64 of an IPv6 address. Returns other texts
 * unchanged.
 */
export function networkOf(address: string): string {
  return isIPv6(address) ? `${groupsOf(address).slice(0, 4).join(":")}::/64` : address;
}

/**
 * Returns a network that identifies no single client: the /24 of an IPv4 address, or an IPv6 address's /48. Returns
 * other texts unchanged.
 */
export function wideNetworkOf(address: string): string {
  if (isIPv4(address)) return `${address.split(".").slice(0, 3).join(".")}.0/24`;
  return isIPv6(address) ? `${groupsOf(address).slice(0, 3).join(":")}::/48` : address;
}

/** Returns a text such as `1.2.3.4:567` or `[2001:db8::1]:443` without brackets and port. */
function hostOf(text: string): string {
  const bracket = text.indexOf("]");
  if (text.startsWith("[") && bracket !== -1) {
    const host = text.slice(1, bracket);
    return host.includes(":") && (bracket === text.length - 1 || isPort(text.slice(bracket + 1))) ? host : text;
  }
  // In an IPv6 address without brackets, the text after the first colon is no port.
  const colon = text.indexOf(":");
  return isPort(text.slice(colon)) ? text.slice(0, colon) : text;
}

function isPort(text: string): boolean {
  return /^:\d{1,5}$/.test(text) && Number(text.slice(1)) <= 65_535;
}

/** Returns the one form that the URL standard defines for an IPv6 address, in hexadecimal only. */
function spelled(address: string): string {
  return new URL(`http://[${address}]`).hostname.slice(1, -1);
}

/** Returns the eight groups of an IPv6 address. */
function groupsOf(address: string): string[] {
  const [head = "", tail] = spelled(address).split("::");
  const [first, last] = [head, tail ?? ""].map((part) => (part === "" ? [] : part.split(":"))) as [string[], string[]];
  return [...first, ...Array<string>(8 - first.length - last.length).fill("0"), ...last];
}

function bytesOf(group: string): [number, number] {
  const value = Number.parseInt(group, 16);
  return [value >> 8, value & 255];
}
