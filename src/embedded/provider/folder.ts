// Stores the provider's state that survives a restart, in files that only their owner can read.
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { readJson } from "../json-file.ts";
import { writePrivate } from "../secrets.ts";
import { makeFolder } from "../../process/make-folder.ts";

/** A folder of small JSON files. */
export type Folder = Awaited<ReturnType<typeof openFolder>>;

/** Opens the provider's folder within the data folder. Creates a missing folder. */
export async function openFolder(dataDir: string) {
  const folder = join(dataDir, "provider");
  await makeFolder(folder, 0o700);
  await chmod(folder, 0o700);
  // Writes are serialized, so that the last value requested is the one that remains.
  let last: Promise<void> = Promise.resolve();
  return {
    /** Returns the value stored under the name, or undefined if it is missing or unreadable. */
    read: (name: string): Promise<unknown> => readJson(join(folder, name)),
    /** Stores the value atomically: if the process dies meanwhile, the previous value remains. */
    write(name: string, value: unknown): Promise<void> {
      const text = `${JSON.stringify(value, null, 2)}\n`;
      const written = last.then(() => writePrivate(join(folder, name), text));
      last = written.catch(() => {});
      return written;
    },
  };
}
