// The bounds of connections and of open HTTP/2 streams, and the share of each client network.
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import type { ClientHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { Limited } from "../../src/call/exchange.ts";
import { createListener } from "../../src/http/listener.ts";
import { networkOfPeer } from "../../src/http/peer-limits.ts";

test("the addresses of an IPv6 client's network are one client, and IPv4 clients of a listener on :: are not [OPS-70]", () => {
  const network = (remoteAddress: string): string => networkOfPeer({ remoteAddress });
  expect(network("2001:db8::1")).toBe(network("2001:db8::2"));
  expect(network("2001:db8::1")).not.toBe(network("2001:db8:0:1::1"));
  expect(network("::ffff:192.0.2.1")).toBe(network("192.0.2.1"));
  expect(network("::ffff:192.0.2.1")).not.toBe(network("::ffff:192.0.2.2"));
});

/** A listener that responds at once, and what it rejected. */
async function listening(peersAreClients: boolean): Promise<{ readonly port: number; readonly limited: Limited[] }> {
  const limited: Limited[] = [];
  const listener = createListener({
    handle: (_request, response) => response.end("hello"),
    rejectMessage: () => "",
    rejectExpectation: () => undefined,
    rejectSlow: () => undefined,
    peersAreClients,
    onLimit: (what) => void limited.push(what),
  });
  const port = await listener.listen(0, "127.0.0.1");
  onTestFinished(() => listener.close(0, 0));
  return { port, limited };
}

/** Opens connections of 100 requests each, and reads no response. Returns the sessions and how the requests ended. */
async function leaveUnread(port: number, connections: number, headers = {}) {
  const sessions: ClientHttp2Session[] = [];
  const codes: (number | undefined)[] = [];
  for (let at = 0; at < connections; at++) {
    const session = connectHttp2(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: 0 } });
    session.on("error", () => undefined);
    sessions.push(session);
    onTestFinished(() => session.destroy());
    await once(session, "remoteSettings");
    for (let stream = 0; stream < 100; stream++) {
      const request = session.request({ ":path": "/", ...headers });
      request.on("error", () => undefined).once("close", () => codes.push(request.rstCode));
    }
  }
  return { sessions, codes };
}

async function isServed(port: number): Promise<boolean> {
  return (await fetch(`http://127.0.0.1:${port}`)).status === 200;
}

const resetCode = 7;

test("rejects streams of a client that leaves a thousand responses unread, and takes new ones once it is gone [OPS-70]", async () => {
  const { port, limited } = await listening(true);
  const { sessions, codes } = await leaveUnread(port, 12);
  await expect.poll(() => codes.length, { timeout: 20_000 }).toBeGreaterThan(100);
  expect(new Set(codes)).toEqual(new Set([resetCode]));
  expect(new Set(limited)).toEqual(new Set(["stream"]));
  expect(codes.length).toBeLessThan(400);
  expect(await isServed(port)).toBe(true);
  for (const session of sessions) session.destroy();
  const more = await leaveUnread(port, 5);
  await Promise.all(more.sessions.map((session) => new Promise((resolve) => session.ping(resolve))));
  expect(more.codes).toEqual([]);
});

test("counts the headers of an unread request, so that long ones leave room for fewer [OPS-70]", async () => {
  const { port } = await listening(true);
  const { codes } = await leaveUnread(port, 4, { "x-long": "a".repeat(50_000) });
  await expect.poll(() => codes.length, { timeout: 20_000 }).toBeGreaterThan(100);
  expect(codes.length).toBeLessThan(200);
});

test("gives a proxy more than the share of a client [OPS-70]", async () => {
  const { port, limited } = await listening(false);
  const { sessions } = await leaveUnread(port, 12);
  await Promise.all(sessions.map((session) => new Promise((resolve) => session.ping(resolve))));
  expect(limited).toEqual([]);
});

test("rejects the connections of one client above its share, and takes new ones when others close [OPS-70]", async () => {
  const { port, limited } = await listening(true);
  const sockets: Socket[] = [];
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
  // No more at a time than the kernel lets wait for the listener.
  for (let batch = 0; batch < 26; batch++) {
    const some = Array.from({ length: 100 }, () => connect(port, "127.0.0.1").on("error", () => undefined));
    await Promise.all(some.map((socket) => once(socket, "connect")));
    sockets.push(...some);
  }
  await expect.poll(() => limited.length, { timeout: 20_000 }).toBe(100);
  for (const socket of sockets) socket.destroy();
  await expect.poll(() => isServed(port).catch(() => false)).toBe(true);
});
