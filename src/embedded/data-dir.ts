// Locks DATA_DIR for one running service at a time.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { FolderLock } from "./folder-lock.ts";
import { lockFolder } from "./folder-lock.ts";
import { pidOf, type ProcessId } from "./process-id.ts";

/**
 * Locks the data folder for this process. Creates a missing folder, for its owner only. Fails with one line that names
 * the pid if another live service, or this process, already has the lock.
 */
export async function lockDataDir(dir: string): Promise<FolderLock> {
  return lockFolder(await processesFolder(dir), "service", (holder) => dataDirInUse(dir, holder));
}

/**
 * Returns the folder within DATA_DIR that holds a file for each running process, named `<role>.<process id>`. Creates a
 * missing folder.
 */
export async function processesFolder(dir: string): Promise<string> {
  const folder = join(dir, "processes");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return folder;
}

export function dataDirInUse(dir: string, service: ProcessId): Error {
  return new Error(
    `DATA_DIR ${dir} is in use by the running service with pid ${pidOf(service)}; stop it or set another DATA_DIR`,
  );
}
