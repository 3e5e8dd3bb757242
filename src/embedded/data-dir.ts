// Locks DATA_DIR for one running service at a time.
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { identify, isRunning, pidOf, type ProcessId } from "./process-id.ts";

/** The lock on a data folder. */
export interface DataDirLock {
  /** Lets the next service have it; the lock of a service that dies without a release ends too. */
  release(): Promise<void>;
}

/**
 * Takes the data folder (made when missing, for its owner only) for this process.
 * Fails with one line that names the pid where another live service has it, or this one already.
 *
 * Each candidate puts a file with its own process in the name and looks for others afterwards, so of two at once at
 * least one sees the other, and nobody ever removes the file of a live one. Where both see each other both step back
 * and try again a little later.
 */
export async function lockDataDir(dir: string): Promise<DataDirLock> {
  const folder = await processesFolder(dir);
  const own = ownProcess();
  const file = join(folder, `service.${own}`);
  for (let attempt = 1; ; attempt++) {
    await writeFile(file, "", { flag: "wx" }).catch((error: NodeJS.ErrnoException) => {
      throw error.code === "EEXIST" ? dataDirInUse(dir, own) : error;
    });
    const other = await otherService(folder, own);
    if (other === undefined) return { release: () => rm(file, { force: true }) };
    await rm(file);
    if (attempt === 4) throw dataDirInUse(dir, other);
    await sleep(20 + Math.random() * 80);
  }
}

/** The folder within DATA_DIR that holds a file for each running process, named `<role>.<process id>`. */
export async function processesFolder(dir: string): Promise<string> {
  const folder = join(dir, "processes");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** The process that we are. */
export function ownProcess(): ProcessId {
  const own = identify(process.pid);
  if (own === undefined) throw new Error("Cannot identify this process: neither /proc nor ps can be read.");
  return own;
}

export function dataDirInUse(dir: string, service: ProcessId): Error {
  return new Error(
    `DATA_DIR ${dir} is in use by the running service with pid ${pidOf(service)}; stop it or set another DATA_DIR`,
  );
}

async function otherService(folder: string, own: ProcessId): Promise<ProcessId | undefined> {
  for (const name of await readdir(folder)) {
    const id = name.replace(/^service\./, "");
    if (id === name || id === own) continue;
    if (isRunning(id)) return id;
    await rm(join(folder, name), { force: true });
  }
  return undefined;
}
