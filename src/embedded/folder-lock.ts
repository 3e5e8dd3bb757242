// Locks a folder for one process at a time; the lock of a process that dies ends with it.
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { identify, isProcessId, isRunning, type ProcessId } from "./process-id.ts";

/** The lock on a folder. */
export interface FolderLock {
  /** Lets the next process have it. */
  release(): Promise<void>;
}

/**
 * Locks a folder for this process in a role. Fails with `inUse` where another live process has it, or this one already.
 *
 * Each candidate puts a file with its own process in the name and looks for others afterwards, so of two at once at
 * least one sees the other, and nobody ever removes the file of a live one. Where both see each other both step back
 * and try again a little later.
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

/** The process that we are. */
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
