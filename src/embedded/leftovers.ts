// Notes down which server processes a service has started on DATA_DIR, and ends those that outlived their service.
import { writeFileSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { dataDirInUse, processesFolder } from "./data-dir.ts";
import { ownProcess } from "./folder-lock.ts";
import { endProcess, identify, isRunning, pidOf } from "./process-id.ts";

/** Notes that the process with this pid was started by us on the data folder; the function takes the note away. */
export async function noteServer(dataDir: string, role: string, pid: number): Promise<() => Promise<void>> {
  const file = join(await processesFolder(dataDir), `${role}.${identify(pid)}`);
  writeFileSync(file, ownProcess());
  return () => rm(file, { force: true });
}

/**
 * Ends what a killed service left running in this role (10 seconds for SIGTERM, then SIGKILL), with a line of progress.
 * Fails, and ends nothing, where the service that started it is alive: then the data folder is in use.
 */
export async function endLeftovers(dataDir: string, role: string, progress: (line: string) => void): Promise<void> {
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
