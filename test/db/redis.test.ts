// The connection to Redis when it is lost silently, as when a host fails.
import type { Socket } from "node:net";
import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { KeyCommands, RedisLink } from "../../src/db/redis.ts";
import { connectRedis } from "../../src/db/redis.ts";
import type { EmbeddedServer } from "../../src/embedded/server.ts";
import { Redis } from "ioredis";
import { replyCode } from "../../src/db/redis-code.ts";
import { startOwnRedis } from "../fixtures/databases/own-redis.ts";
const open = new Set<Socket>();
/** A proxy to Redis whose open connections can be lost silently. */
const way = createServer((near) => {
  const far = connect(Number(new URL(redis.uri).port), "127.0.0.1");
  for (const socket of [near, far]) {
    open.add(socket);
    socket.on("error", () => undefined).on("close", () => open.delete(socket));
  }
  near.pipe(far).pipe(near);
});
const read = (key: KeyCommands): Promise<unknown> => key.run("return redis.call('GET', KEYS[1])");
let redis: EmbeddedServer;
let link: RedisLink;

beforeAll(async () => {
  redis = await startOwnRedis();
  await new Promise<void>((resolve) => way.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  link.close();
  for (const socket of open) socket.destroy();
  way.close();
  await redis.stop();
});

test("gives up a connection that was lost silently, and uses Redis over another [RTE-13]", async () => {
  const changes: boolean[] = [];
  link = connectRedis(
    redis.uri.replace(new URL(redis.uri).port, String((way.address() as AddressInfo).port)),
    (ready) => changes.push(ready),
  );
  await link.firstReady;
  expect(await link.attempt("a", (key) => key.set("1", 60_000))).toBe("OK");
  for (const socket of open) socket.unpipe().pause();
  expect(await link.attempt("a", read)).toBeUndefined();
  expect(link.ready()).toBe(false);
  await expect.poll(() => link.ready(), { timeout: 20_000 }).toBe(true);
  await expect.poll(() => link.attempt("a", read), { timeout: 10_000 }).toBe("1");
  expect(changes.slice(0, 3)).toEqual([true, false, true]);
});

test("a request waits 50 ms for a Redis that does not respond: longer than one that waits 40, and less than 60 [RTE-13]", async () => {
  const links = [60, undefined, 40].map((commandTimeoutMs) => ({
    waits: commandTimeoutMs ?? "as usual",
    link: connectRedis(redis.uri, () => undefined, { commandTimeoutMs }),
  }));
  await Promise.all(links.map(({ link: { firstReady } }) => firstReady));
  const ended: unknown[] = [];
  process.kill(redis.pid, "SIGSTOP");
  try {
    await Promise.all(links.map(async ({ waits, link: { attempt } }) => ended.push(waits, await attempt("a", read))));
  } finally {
    process.kill(redis.pid, "SIGCONT");
    for (const { link: opened } of links) opened.close();
  }
  expect(ended).toEqual([40, undefined, "as usual", undefined, 60, undefined]);
});

/** Returns the changes of a link to the server, each as `available` or the code of the reply. */
async function followed(work: (admin: Redis, link: RedisLink, changes: string[]) => Promise<void>): Promise<string[]> {
  const changes: string[] = [];
  const admin = new Redis(redis.uri);
  const opened = connectRedis(
    redis.uri,
    (ready, error) => changes.push(ready ? "available" : (replyCode(error) ?? "no code")),
    { commandTimeoutMs: 2_000 },
  );
  await opened.firstReady;
  try {
    await work(admin, opened, changes);
  } finally {
    opened.close();
    admin.disconnect();
  }
  return changes;
}

test("a changed password is reported by its code, though the connection closes first [RTE-13]", async () => {
  const password = decodeURIComponent(new URL(redis.uri).password);
  const changes = await followed(async (admin, opened, seen) => {
    await admin.config("SET", "requirepass", "another");
    await admin.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    await expect.poll(() => seen, { timeout: 10_000 }).toContain("WRONGPASS");
    await admin.config("SET", "requirepass", password);
    await expect.poll(() => opened.ready(), { timeout: 20_000 }).toBe(true);
  });
  expect(changes.slice(0, 2)).toEqual(["available", "no code"]);
  expect(changes.at(-1)).toBe("available");
  // Each code once, however often the client tries to connect.
  expect(changes.length).toBe(new Set(changes).size + 1);
});

test("a full Redis is reported as OOM, and is not used again while it rejects commands [RTE-13]", async () => {
  const write = "return redis.call('SET', KEYS[1], ARGV[1])";
  const changes = await followed(async (admin, opened, seen) => {
    await admin.config("SET", "maxmemory", "1");
    expect(await opened.attempt("a", (key) => key.run(write, "value"))).toBeUndefined();
    await expect.poll(() => seen).toEqual(["available", "OOM"]);
    // It accepts commands for a moment.
    await admin.config("SET", "maxmemory", "0");
    await expect.poll(async () => (await admin.exists("probe")) === 1, { timeout: 10_000, interval: 20 }).toBe(true);
    await admin.config("SET", "maxmemory", "1");
    await admin.del("probe");
    expect(seen).toEqual(["available", "OOM"]);
    await admin.config("SET", "maxmemory", "0");
    await expect.poll(() => opened.ready(), { timeout: 20_000 }).toBe(true);
  });
  expect(changes).toEqual(["available", "OOM", "available"]);
});
