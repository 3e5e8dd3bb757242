// The processes that use DATA_DIR: one service at a time, and the servers that it starts. Each has a file in the folder
// `processes`, named `<role>.<process id>`.
import { writeFileSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { FolderLock } from "./folder-lock.ts";
import { lockFolder, ownProcess, processesIn } from "./folder-lock.ts";
import { endProcess, identify, isRunning, pidOf, type ProcessId } from "./process-id.ts";
import { makeFolder } from "../process/make-folder.ts";

/**
 * Locks the data folder for this process. Creates a missing folder, for its owner only. Fails with one line that names
 * the pid if another live service, or this process, already has the lock.
 */
export async function lockDataDir(dir: string): Promise<FolderLock> {
  return lockFolder(await processesFolder(dir), "service", (holder) => dataDirInUse(dir, holder));
}

async function processesFolder(dir: string): Promise<string> {
  const folder = join(dir, "processes");
  await makeFolder(folder, 0o700);
  return folder;
}

export function dataDirInUse(dir: string, service: ProcessId): Error {
  return new Error(
    `DATA_DIR ${dir} is in use by the running service with pid ${pidOf(service)}; stop it or set another DATA_DIR`,
  );
}

/** Returns the running process of this role. Changes nothing. */
export async function runningIn(dir: string, role: string): Promise<ProcessId | undefined> {
  return (await processesIn(join(dir, "processes"), role).catch(() => [])).find(isRunning);
}

/** Records that this service started the process with this pid. Returns a function that removes the record. */
export async function noteServer(dir: string, role: string, pid: number): Promise<() => Promise<void>> {
  const file = join(await processesFolder(dir), `${role}.${identify(pid)}`);
  writeFileSync(file, ownProcess());
  return () => rm(file, { force: true });
}

/**
 * Ends the servers of this role that a killed service left running, and reports each in a line of progress. A server
 * has 10 seconds after SIGTERM, and then gets SIGKILL. Fails without ending a server whose service is still alive,
 * because the data folder is then in use.
 */
export async function endOrphanedServers(dir: string, role: string, progress: (line: string) => void): Promise<void> {
  const folder = await processesFolder(dir);
  for (const server of await processesIn(folder, role)) {
    const file = join(folder, `${role}.${server}`);
    if (isRunning(server)) {
      const service = await readFile(file, "utf8");
      if (isRunning(service)) throw dataDirInUse(dir, service);
      progress(`Ending the ${role} (pid ${pidOf(server)}) of a service that was killed …`);
      await endProcess(server, 10_000);
    }
    await rm(file, { force: true });
  }
}
