// Locks a folder for one process at a time. The lock of a process ends when the process dies.
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { identify, isProcessId, isRunning, type ProcessId } from "./process-id.ts";

/** The lock on a folder. */
export interface FolderLock {
  /** Releases the lock for the next process. */
  release(): Promise<void>;
}

/**
 * Locks a folder for this process in a role. Fails with `inUse` if another live process, or this one, already has the
 * lock.
 *
 * Each candidate creates a file named after its own process, and then looks for others. Of two concurrent candidates,
 * at least one sees the other, and neither removes the file of a live process. If both see each other, both withdraw
 * and retry a little later, up to three times.
 */
export async function lockFolder(
  folder: string,
  role: string,
  inUse: (holder: ProcessId) => Error,
): Promise<FolderLock> {
  const own = ownProcess();
  const file = join(folder, `${role}.${own}`);
  for (let attempt = 1; ; attempt++) {
    await writeFile(file, "", { flag: "wx" }).catch((error: NodeJS.ErrnoException) => {
      throw error.code === "EEXIST" ? inUse(own) : error;
    });
    const other = await otherHolder(folder, role, own);
    if (other === undefined) return { release: () => rm(file, { force: true }) };
    await rm(file);
    if (attempt === 4) throw inUse(other);
    await sleep(20 + Math.random() * 80);
  }
}

/** Whether a file of this name is a lock in this role. */
export function isLock(name: string, role: string): boolean {
  return name.startsWith(`${role}.`) && isProcessId(name.slice(role.length + 1));
}

/** Returns the id of this process. Fails if the process cannot be identified. */
export function ownProcess(): ProcessId {
  const own = identify(process.pid);
  if (own === undefined) throw new Error("Cannot identify this process: neither /proc nor ps can be read.");
  return own;
}

async function otherHolder(folder: string, role: string, own: ProcessId): Promise<ProcessId | undefined> {
  for (const name of await readdir(folder)) {
    if (!isLock(name, role)) continue;
    const id = name.slice(role.length + 1);
    if (id === own) continue;
    if (isRunning(id)) return id;
    await rm(join(folder, name), { force: true });
  }
  return undefined;
}
