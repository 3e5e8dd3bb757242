// Keeps a fetched program in the cache folder, for this start and all later ones.
import { chmod, mkdir, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { probe, type ProgramKind } from "./program.ts";

/** A work folder this old was left behind by a fetch that was killed. */
const ABANDONED_AFTER_MS = 3_600_000;

/**
 * Has the program fetched into a work folder and moves it to where it is kept; the path there. It is moved only if it
 * runs here, and at one stroke: of two that fetch at the same time both succeed. Nothing else stays behind.
 */
export async function fetchAndKeep(
  kind: ProgramKind,
  cacheDir: string,
  fetch: (workDir: string) => Promise<string>,
): Promise<string> {
  await mkdir(cacheDir, { recursive: true });
  const workDir = await mkdtemp(join(cacheDir, "fetch-"));
  try {
    const fetched = await fetch(workDir);
    await chmod(fetched, 0o755);
    await probe(kind, fetched);
    await rename(fetched, join(cacheDir, kind.name));
    return join(cacheDir, kind.name);
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}

/** Removes what fetches that were killed have left in the cache folder. */
export async function removeAbandoned(cacheDir: string): Promise<void> {
  for (const name of await readdir(cacheDir).catch(() => [])) {
    if (!name.startsWith("fetch-")) continue;
    const folder = join(cacheDir, name);
    const changed = await stat(folder).catch(() => undefined);
    if (changed !== undefined && Date.now() - changed.mtimeMs > ABANDONED_AFTER_MS)
      await rm(folder, { recursive: true, force: true });
  }
}
