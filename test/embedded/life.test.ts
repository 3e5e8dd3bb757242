// The embedded servers end with the service, however that ends, and never while it lives.
import { once } from "node:events";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { MongoClient } from "mongodb";
import { expect, onTestFinished, test, vi } from "vitest";
import { dataDirInUse, endOrphanedServers } from "../../src/embedded/data-dir.ts";
import { startMongod } from "../../src/embedded/mongod.ts";
import { identify, isRunning } from "../../src/embedded/process-id.ts";
import { nothingRuns, optionsFor, running, startService, temporaryFolder } from "./machine.ts";

vi.setConfig({ testTimeout: 120_000 });

test("Ctrl-C in the terminal reaches the service alone: its servers serve until it has finished, and then end [OPS-21]", async () => {
  const dataDir = await temporaryFolder();
  const service = startService(dataDir);
  const { mongod, redis, uri } = await service.message("ready");
  const ids = [identify(mongod as number) as string, identify(redis as number) as string];
  process.kill(-service.pid, "SIGINT");
  await service.message("interrupted");
  expect(ids.map(isRunning)).toEqual([true, true]);
  const client = new MongoClient(uri as string);
  expect(await client.db().command({ ping: 1 })).toMatchObject({ ok: 1 });
  await client.close();
  await service.message("stopped");
  await once(service.child, "exit");
  expect(service.child.exitCode).toBe(0);
  expect(await running(dataDir)).toEqual([]);
  expect(await readdir(join(dataDir, "processes"))).toEqual([]);
});

test("a service killed with SIGKILL leaves nothing running, and the next one starts on its data [OPS-21]", async () => {
  const dataDir = await temporaryFolder();
  const killed = startService(dataDir);
  const { mongod, redis } = await killed.message("ready");
  const ids = [identify(mongod as number) as string, identify(redis as number) as string];
  process.kill(killed.pid, "SIGKILL");
  await once(killed.child, "exit");
  await nothingRuns(dataDir);
  // A process that is ending loses its command line and folder before its pid.
  await expect.poll(() => ids.map(isRunning), { timeout: 8_000 }).toEqual([false, false]);
  const next = startService(dataDir);
  await next.message("ready");
  expect(next.messages.filter((message) => "progress" in message)).toEqual([]);
});

test("the next start ends servers that outlive their killed service [OPS-21]", async () => {
  const dataDir = await temporaryFolder();
  const killed = startService(dataDir);
  const { mongod, redis } = await killed.message("ready");
  const servers = [mongod as number, redis as number];
  const ids = servers.map((pid) => identify(pid) as string);
  onTestFinished(() => ids.forEach((id, index) => isRunning(id) && process.kill(servers[index] as number, "SIGKILL")));
  const watchers = (await running(dataDir)).filter(({ parent }) => servers.includes(parent));
  expect(watchers).toHaveLength(2);
  for (const { pid } of watchers) process.kill(pid, "SIGKILL");
  process.kill(killed.pid, "SIGKILL");
  await once(killed.child, "exit");
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(ids.map(isRunning), "without their watchers they live on").toEqual([true, true]);

  const next = startService(dataDir);
  const ready = await next.message("ready");
  expect(ids.map(isRunning)).toEqual([false, false]);
  expect(
    next.messages
      .filter((message) => "progress" in message)
      .map(({ progress }) => progress)
      .sort(),
  ).toEqual([
    `Ending the mongod (pid ${mongod as number}) of a service that was killed …`,
    `Ending the redis (pid ${redis as number}) of a service that was killed …`,
  ]);
  expect(ready["mongod"]).not.toBe(mongod);
});

test("while a live service holds the data folder, a second one is rejected with one line, and the first continues [OPS-21]", async () => {
  const dataDir = await temporaryFolder();
  const first = startService(dataDir);
  const { mongod, uri } = await first.message("ready");
  const inUse = dataDirInUse(dataDir, String(first.pid)).message;
  expect(inUse).toBe(
    `DATA_DIR ${dataDir} is in use by the running service with pid ${first.pid}; stop it or set another DATA_DIR`,
  );
  const second = startService(dataDir);
  expect(await second.message("error")).toEqual({ error: inUse });
  await once(second.child, "exit");
  // Even without the lock nobody ends the servers of a living service.
  await expect(startMongod(optionsFor(dataDir))).rejects.toThrow(inUse);
  expect(isRunning(identify(mongod as number) as string)).toBe(true);
  const client = new MongoClient(uri as string);
  expect(await client.db().command({ ping: 1 })).toMatchObject({ ok: 1 });
  await client.close();
});

test("a note whose pid now belongs to another process ends no process [OPS-21]", async () => {
  const dataDir = await temporaryFolder();
  await endOrphanedServers(dataDir, "mongod", () => {});
  const own = identify(process.pid) as string;
  const earlier = own.replace(/-(\d+)-/, (_, start: string) => `-${Number(start) - 1}-`);
  await writeFile(join(dataDir, "processes", `mongod.${earlier}`), "");
  const lines: string[] = [];
  await endOrphanedServers(dataDir, "mongod", (line) => lines.push(line));
  expect(lines).toEqual([]);
  expect(await readdir(join(dataDir, "processes"))).toEqual([]);
});
