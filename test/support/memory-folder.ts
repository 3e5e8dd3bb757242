// Keeps the files of a test run in memory, because waiting for the disk takes most of the time of a write and of
// starting a service.
import { mkdirSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { freemem } from "node:os";
import { join } from "node:path";

/** A file system in memory, and the minimum free space. */
export interface Memory {
  readonly folder: string;
  readonly minBytes: number;
}

/** Linux's shared memory. The databases of a run and its copies of the sources take about 4 GB. */
const sharedMemory: Memory = { folder: "/dev/shm", minBytes: 10_000_000_000 };
const prefix = "records-tests-";

/**
 * Makes this process and its children keep temporary files in memory until it exits. Does nothing if `TMPDIR` is set or
 * memory is scarce.
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

/** Removes the folders of killed runs, which take up memory. */
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
