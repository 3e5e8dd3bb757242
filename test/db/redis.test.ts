// The connection to Redis when it is lost silently, as when a host fails.
import type { Socket } from "node:net";
import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { KeyCommands, RedisLink } from "../../src/db/redis.ts";
import { connectRedis } from "../../src/db/redis.ts";
import type { EmbeddedServer } from "../../src/embedded/server.ts";
import { startOwnRedis } from "../../fixtures/databases/own-redis.ts";
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
