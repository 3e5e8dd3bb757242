// Addresses for the throttle: one spelling for each, and one bucket for each IPv4 address or IPv6 /64 network.
import { BlockList } from "node:net";
import { randomBytes, randomInt } from "node:crypto";
import { describe, expect, test } from "vitest";
import { addressOf, networkOf, wideNetworkOf } from "../../src/config/address.ts";
import { inboundOf } from "../../src/http/inbound.ts";
import type { Request } from "../../src/call/exchange.ts";

test.each([
  ["192.0.2.1", "192.0.2.1"],
  [" 192.0.2.1\t", "192.0.2.1"],
  ["192.0.2.1:567", "192.0.2.1"],
  ["192.0.2.1:65535", "192.0.2.1"],
  ["2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
  ["2001:0db8::0001", "2001:db8::1"],
  ["[2001:db8::1]", "2001:db8::1"],
  ["[2001:db8::1]:443", "2001:db8::1"],
  ["fe80::1%eth0", "fe80::1"],
  ["[fe80::1%25eth0]:80", "fe80::1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["::FFFF:c000:201", "192.0.2.1"],
  ["[::ffff:192.0.2.1]:8080", "192.0.2.1"],
  ["0:0:0:0:0:ffff:192.0.2.1", "192.0.2.1"],
  ["::", "::"],
  ["::1", "::1"],
])("%j is the address %s [RTE-19]", (text, address) => {
  expect(addressOf(text)).toBe(address);
});

test.each([
  "",
  " ",
  "unknown",
  "_hidden",
  "localhost",
  "192.0.2",
  "192.0.2.256",
  "192.0.2.01",
  "0x7f.0.0.1",
  "3221225985",
  "192.0.2.1:",
  "192.0.2.1:x",
  "192.0.2.1:65536",
  "192.0.2.1:000080",
  "192.0.2.1:1e3",
  "192.0.2.1:-1",
  "192.0.2.1 x",
  "192.0.2.1%eth0",
  "[192.0.2.1]",
  "[192.0.2.1]:80",
  "[2001:db8::1",
  "2001:db8::1]",
  "[2001:db8::1]443",
  "[2001:db8::1]:",
  "[2001:db8::1]:99999",
  "[]:80",
  "1::2::3",
  "2001:db8::g",
  "12345::",
  "2001:db8::1,2001:db8::2",
  "for=192.0.2.1",
])("%j is not an address [RTE-19]", (text) => {
  expect(addressOf(text)).toBeUndefined();
});

test.each(["1", "[", ":"])("%j 50,000 times is not an address [RTE-19]", (character) => {
  expect(addressOf(character.repeat(50_000))).toBeUndefined();
});

test.each([
  ["192.0.2.77", "192.0.2.0/24"],
  ["2001:db8:1:2::3", "2001:db8:1::/48"],
  ["::1", "0:0:0::/48"],
  ["unknown", "unknown"],
])("shortens %s to %s, which identifies no single client", (address, network) => {
  expect(wideNetworkOf(address)).toBe(network);
});

test("a network is an IPv4 address, or the first 64 bits of an IPv6 address [RTE-19]", () => {
  expect(
    ["192.0.2.1", "2001:db8::1", "2001:db8:0:0:ffff::", "2001:db8:0:1::", "::1", "1:2:3:4:5:6:7:8"].map(networkOf),
  ).toEqual([
    "192.0.2.1",
    "2001:db8:0:0::/64",
    "2001:db8:0:0::/64",
    "2001:db8:0:1::/64",
    "0:0:0:0::/64",
    "1:2:3:4::/64",
  ]);
});

/** Eight random groups, often zeros, so that the short form `::` occurs. */
const randomGroups = (): number[] => Array.from({ length: 8 }, () => (randomInt(2) === 0 ? 0 : randomInt(65_536)));

/** One of the many ways to spell an IPv6 address. */
function spelling(groups: readonly number[]): string {
  const padded = randomInt(2) === 0;
  const texts = groups.map((group) => group.toString(16).padStart(padded ? 4 : 1, "0"));
  const dotted = randomInt(3) === 0;
  if (dotted)
    texts.splice(6, 2, [groups[6] ?? 0, groups[7] ?? 0].flatMap((group) => [group >> 8, group & 255]).join("."));
  const zeros = texts.flatMap((text, at) => (/^0+$/.test(text) ? [at] : []));
  const from = zeros[randomInt(Math.max(1, zeros.length))];
  let end = from ?? 0;
  while (from !== undefined && zeros.includes(end)) end += 1;
  const text =
    from === undefined || randomInt(3) === 0
      ? texts.join(":")
      : `${texts.slice(0, from).join(":")}::${texts.slice(end).join(":")}`;
  const cased = randomInt(2) === 0 ? text.toUpperCase() : text;
  const zoned = randomInt(4) === 0 ? `${cased}%eth${randomInt(9)}` : cased;
  return randomInt(2) === 0 ? zoned : `[${zoned}]${randomInt(2) === 0 ? "" : `:${randomInt(65_536)}`}`;
}

test("all spellings of an address are one address, and the addresses of one network share a bucket [RTE-19]", () => {
  for (let turn = 0; turn < 3_000; turn++) {
    const groups = randomGroups();
    const [one, other] = [spelling(groups), spelling(groups)];
    expect(addressOf(one), one).toBeDefined();
    expect(addressOf(one), `${one} and ${other}`).toBe(addressOf(other));
    const neighbour = groups.map((group, at) => (at >= 4 || randomInt(8) === 0 ? randomInt(65_536) : group));
    const [mine, theirs] = [addressOf(one) ?? "", addressOf(spelling(neighbour)) ?? ""];
    if (!mine.includes(":") || !theirs.includes(":")) continue;
    const network = new BlockList();
    network.addSubnet(mine, 64, "ipv6");
    expect(networkOf(mine) === networkOf(theirs), `${mine} and ${theirs}`).toBe(network.check(theirs, "ipv6"));
  }
});

test("an IPv4 address is its own network, even mapped to IPv6 or with a port [RTE-19]", () => {
  for (let turn = 0; turn < 1_000; turn++) {
    const bytes = [...randomBytes(4)] as [number, number, number, number];
    const address = bytes.join(".");
    const hexadecimal = `::ffff:${((bytes[0] << 8) | bytes[1]).toString(16)}:${((bytes[2] << 8) | bytes[3]).toString(16)}`;
    for (const text of [
      address,
      `${address}:${randomInt(65_536)}`,
      `::ffff:${address}`,
      hexadecimal,
      `[${hexadecimal}]:1`,
    ])
      expect(addressOf(text), text).toBe(address);
    expect(networkOf(address)).toBe(address);
  }
});

describe("the client's address in X-Forwarded-For", () => {
  const seen = (trustProxy: number, forwarded: string | undefined, remoteAddress = "::ffff:10.0.0.9"): string =>
    inboundOf(
      {
        headers: { ...(forwarded !== undefined && { "x-forwarded-for": forwarded }) },
        socket: { remoteAddress },
      } as unknown as Request,
      trustProxy,
    ).address;

  test.each([
    [0, "203.0.113.1", "10.0.0.9"],
    [1, undefined, "10.0.0.9"],
    [1, "203.0.113.1", "203.0.113.1"],
    [1, "203.0.113.1:4711", "203.0.113.1"],
    [1, "198.51.100.1, [2001:DB8::1]:443", "2001:db8::1"],
    [1, "198.51.100.1, unknown", "10.0.0.9"],
    [1, "198.51.100.1, '; drop", "10.0.0.9"],
    [2, "203.0.113.1, 192.0.2.1", "203.0.113.1"],
    [2, "198.51.100.1, 203.0.113.1, 192.0.2.1", "203.0.113.1"],
    [2, "198.51.100.1, unknown, 192.0.2.1", "192.0.2.1"],
    [2, "198.51.100.1, unknown, hidden", "10.0.0.9"],
    [2, "203.0.113.1", "203.0.113.1"],
  ])(
    "behind %i proxies %j is the client %s: an invalid address falls back to the nearest proxy [RTE-12, RTE-19]",
    (trustProxy, forwarded, address) => {
      expect(seen(trustProxy, forwarded)).toBe(address);
    },
  );
});
