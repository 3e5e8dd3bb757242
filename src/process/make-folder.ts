// Creates folders, and fails with the reason that the system gives.
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";

/** Creates a folder and those that it is in, unless they exist. */
export async function makeFolder(folder: string, mode = 0o777): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode });
  } catch (error) {
    // Node reports ENOENT for each failure that it does not expect, such as a read-only file system.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    if (dirname(folder) !== folder) await makeFolder(dirname(folder), mode);
    await mkdir(folder, { mode });
  }
}
