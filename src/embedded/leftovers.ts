// Records the server processes that a service has started on DATA_DIR, and ends those that outlive their service.
import { writeFileSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { dataDirInUse, processesFolder } from "./data-dir.ts";
import { ownProcess } from "./folder-lock.ts";
import { endProcess, identify, isRunning, pidOf } from "./process-id.ts";

/**
 * Records that this service started the process with this pid on the data folder. Returns a function that removes the
 * record.
 */
export async function noteServer(dataDir: string, role: string, pid: number): Promise<() => Promise<void>> {
  const file = join(await processesFolder(dataDir), `${role}.${identify(pid)}`);
  writeFileSync(file, ownProcess());
  return () => rm(file, { force: true });
}

/**
 * Ends the servers of this role that a killed service left running, and reports each in a line of progress. A server
 * has 10 seconds after SIGTERM, and then gets SIGKILL. Fails without ending a server whose service is still alive,
 * because the data folder is then in use.
 */
export async function endOrphanedServers(
  dataDir: string,
  role: string,
  progress: (line: string) => void,
): Promise<void> {
  const folder = await processesFolder(dataDir);
  for (const name of await readdir(folder)) {
    if (!name.startsWith(`${role}.`)) continue;
    const file = join(folder, name);
    const server = name.slice(role.length + 1);
    if (isRunning(server)) {
      const service = await readFile(file, "utf8");
      if (isRunning(service)) throw dataDirInUse(dataDir, service);
      progress(`Ending the ${role} (pid ${pidOf(server)}) of a service that was killed …`);
      await endProcess(server, 10_000);
    }
    await rm(file, { force: true });
  }
}
