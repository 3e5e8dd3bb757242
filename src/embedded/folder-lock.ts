// Locks a folder for one process at a time. The lock of a process ends when the process dies.
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { identify, isProcessId, isRunning, type ProcessId } from "./process-id.ts";

/** The lock on a folder. */
export type FolderLock = Awaited<ReturnType<typeof lockFolder>>;

/**
 * Locks a folder for this process in a role. Fails with `inUse` if another live process, or this one, already has the
 * lock.
 *
 * Each candidate creates a file named after its own process, and then looks for others. Of two concurrent candidates,
 * at least one sees the other, and neither removes the file of a live process. If both see each other, both withdraw
 * and retry a little later, up to three times.
 */
export async function lockFolder(folder: string, role: string, inUse: (holder: ProcessId) => Error) {
  const own = ownProcess();
  const file = join(folder, `${role}.${own}`);
  for (let attempt = 1; ; attempt++) {
    await writeFile(file, "", { flag: "wx" }).catch((error: NodeJS.ErrnoException) => {
      throw error.code === "EEXIST" ? inUse(own) : error;
    });
    const other = await otherHolder(folder, role, own);
    if (other === undefined) return { release: (): Promise<void> => rm(file, { force: true }) };
    await rm(file);
    if (attempt === 4) throw inUse(other);
    await sleep(20 + Math.random() * 80);
  }
}

/** Whether a file of this name is a lock in this role. */
export function isLock(name: string, role: string): boolean {
  return name.startsWith(`${role}.`) && isProcessId(name.slice(role.length + 1));
}

/** Returns the processes that have a file in this role, whether or not they still run. */
export async function processesIn(folder: string, role: string): Promise<ProcessId[]> {
  return (await readdir(folder)).filter((name) => isLock(name, role)).map((name) => name.slice(role.length + 1));
}

/** Returns the id of this process. Fails if the process cannot be identified. */
export function ownProcess(): ProcessId {
  const own = identify(process.pid);
  if (own === undefined) throw new Error("Cannot identify this process: neither /proc nor ps can be read.");
  return own;
}

async function otherHolder(folder: string, role: string, own: ProcessId): Promise<ProcessId | undefined> {
  for (const id of await processesIn(folder, role)) {
    if (id === own) continue;
    if (isRunning(id)) return id;
    await rm(join(folder, `${role}.${id}`), { force: true });
  }
  return undefined;
}
