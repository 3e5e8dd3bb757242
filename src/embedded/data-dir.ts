// Locks DATA_DIR for one running service at a time.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { FolderLock } from "./folder-lock.ts";
import { lockFolder } from "./folder-lock.ts";
import { pidOf, type ProcessId } from "./process-id.ts";

/**
 * Takes the data folder (made when missing, for its owner only) for this process.
 * Fails with one line that names the pid where another live service has it, or this one already.
 */
export async function lockDataDir(dir: string): Promise<FolderLock> {
  return lockFolder(await processesFolder(dir), "service", (holder) => dataDirInUse(dir, holder));
}

/** The folder within DATA_DIR that holds a file for each running process, named `<role>.<process id>`. */
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
