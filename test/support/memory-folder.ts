// Folder in memory for what a run of the tests writes: its databases then wait for no disk, which takes most of the
// time of a write, and of the start of a service.
import { mkdirSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { freemem } from "node:os";
import { join } from "node:path";

/** Where a folder in memory can be, and what has to be free there. */
export interface Memory {
  readonly folder: string;
  readonly minBytes: number;
}

/** The file system in memory that Linux has. The databases of a run, and its copies of the sources, take some 4 GB. */
const sharedMemory: Memory = { folder: "/dev/shm", minBytes: 10_000_000_000 };
const prefix = "records-tests-";

/**
 * Has this process and its children keep temporary files in memory, until it ends. Does nothing where a folder is given
 * (`TMPDIR`), or where the machine has too little memory for it.
 */
export function keepTemporaryFilesInMemory(environment: NodeJS.ProcessEnv, memory = sharedMemory): void {
  if (environment["TMPDIR"] !== undefined || !hasRoom(memory)) return;
  removeAbandoned(memory);
  const folder = join(memory.folder, `${prefix}${process.pid}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  environment["TMPDIR"] = folder;
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
}

function hasRoom({ folder, minBytes }: Memory): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return Math.min(bavail * bsize, freemem()) >= minBytes;
  } catch {
    return false;
  }
}

/** A run that was killed leaves its folder, and the memory that it takes. */
function removeAbandoned({ folder }: Memory): void {
  for (const name of readdirSync(folder).filter((one) => one.startsWith(prefix)))
    if (!isRunning(Number(name.slice(prefix.length)))) rmSync(join(folder, name), { recursive: true, force: true });
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
