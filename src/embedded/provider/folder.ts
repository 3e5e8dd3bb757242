// Keeps what the provider must know again at its next start, in files for their owner alone.
import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { readJson } from "../json-file.ts";
import { writePrivate } from "../secrets.ts";

/** A folder of small JSON files. */
export interface Folder {
  /** What is kept under the name; undefined where nothing is, or nothing that can be read. */
  read(name: string): Promise<unknown>;
  /** Keeps the value: at one stroke, so that a process that dies meanwhile leaves the one before. */
  write(name: string, value: unknown): Promise<void>;
}

/** The provider's folder within the data folder; made when it is missing. */
export async function openFolder(dataDir: string): Promise<Folder> {
  const folder = join(dataDir, "provider");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  // One write after the other: the last one requested is the one that stays.
  let last: Promise<void> = Promise.resolve();
  return {
    read: (name) => readJson(join(folder, name)),
    write(name, value) {
      const text = `${JSON.stringify(value, null, 2)}\n`;
      const written = last.then(() => writePrivate(join(folder, name), text));
      last = written.catch(() => {});
      return written;
    },
  };
}
