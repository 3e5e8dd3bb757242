// Caddy of the distribution in front of two instances, by the example in deploy/proxy.
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { rest } from "../../fixtures/service/service.ts";
import { freePort } from "../../../src/embedded/port.ts";
import { root } from "../settings.ts";
import { caddy, startProxy } from "./programs.ts";
import { proxied } from "./proxied.ts";

proxied(caddy);

test("an instance that is not ready gets no request, and gets requests again once it is ready", async () => {
  const publicPort = await freePort();
  let ready = true;
  // Two that say which they are, and of which one is not always ready.
  const listen = async (host: string, port: number, status: () => number): Promise<number> => {
    const server = createServer((_request, response) => void response.writeHead(status()).end()).listen(port, host);
    onTestFinished(() => void server.close());
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  };
  await listen("127.0.0.1", publicPort, () => 200);
  await listen("127.0.0.2", publicPort, () => 202);
  const internalPort = await listen("127.0.0.1", 0, () => 200);
  await listen("127.0.0.2", internalPort, () => (ready ? 200 : 503));
  const proxy = await startProxy(caddy, { publicPort, internalPort });
  onTestFinished(() => proxy.stop());
  const seen = async (): Promise<number[]> => {
    const statuses = await Promise.all(Array.from({ length: 30 }, async () => (await rest(proxy.base, "/")).status));
    return [...new Set(statuses)].sort();
  };
  const waiting = { timeout: 20_000, interval: 200 };
  await vi.waitFor(async () => expect(await seen()).toEqual([200, 202]), waiting);
  ready = false;
  await vi.waitFor(async () => expect(await seen()).toEqual([200]), waiting);
  ready = true;
  await vi.waitFor(async () => expect(await seen()).toEqual([200, 202]), waiting);
});

test("Caddy accepts the configuration of the gateway in Compose", () => {
  const adapt = (file: string): number | null =>
    spawnSync(caddy.find() ?? "caddy", ["adapt", "--adapter", "caddyfile", "--config", join(root, file)]).status;
  expect(adapt("deploy/compose/Caddyfile")).toBe(0);
  expect(adapt("deploy/proxy/nginx.conf")).not.toBe(0);
});
