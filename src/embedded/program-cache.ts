// Keeps a fetched program in the cache folder for this start and later ones.
import { chmod, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { probe, type ProgramKind } from "./program.ts";
import { makeFolder } from "../process/make-folder.ts";

/** The age at which a work folder is known to belong to a killed fetch. */
const ABANDONED_AFTER_MS = 3_600_000;

/**
 * Fetches the program into a work folder and moves it to the cache folder. Returns its path there. Moves it only if it
 * runs on this machine, and atomically, so that concurrent fetches all succeed. Always removes the work folder. `name`
 * is the name that it gets there.
 */
export async function fetchToCache(
  kind: ProgramKind,
  cacheDir: string,
  fetch: (workDir: string) => Promise<string>,
  name = kind.name,
): Promise<string> {
  await makeFolder(cacheDir);
  const workDir = await mkdtemp(join(cacheDir, "fetch-"));
  try {
    const fetched = await fetch(workDir);
    await chmod(fetched, 0o755);
    await probe(kind, fetched);
    await rename(fetched, join(cacheDir, name));
    return join(cacheDir, name);
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}

/** Removes the work folders of killed fetches from the cache folder. */
export async function removeAbandoned(cacheDir: string): Promise<void> {
  for (const name of await readdir(cacheDir).catch(() => [])) {
    if (!name.startsWith("fetch-")) continue;
    const folder = join(cacheDir, name);
    const changed = await stat(folder).catch(() => undefined);
    if (changed !== undefined && Date.now() - changed.mtimeMs > ABANDONED_AFTER_MS)
      await rm(folder, { recursive: true, force: true });
  }
}
