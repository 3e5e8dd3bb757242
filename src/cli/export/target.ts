// Where an export goes: a file that appears when it is whole, or standard output.
import { once } from "node:events";
import type { FileHandle } from "node:fs/promises";
import { open, rename, rm } from "node:fs/promises";
import { refuseUsage } from "../exit.ts";

/** A place to write to. */
export interface Target {
  /** Writes a stretch; waits where it is taken slowly. */
  write(text: string): Promise<void>;
  /** Begins anew; false where what was written is out already. */
  restart(): Promise<boolean>;
  /** Puts the file in place. */
  finish(): Promise<void>;
  /** Leaves nothing behind. */
  discard(): Promise<void>;
}

/** The target for a path, or for `-`. Fails, in words, where it cannot be written. */
export async function openTarget(file: string): Promise<Target> {
  return file === "-" ? standardOutput() : fileTarget(file, await openPart(file));
}

function partOf(file: string): string {
  return `${file}.part`;
}

async function openPart(file: string): Promise<FileHandle> {
  // What another run left would keep its rights.
  await rm(partOf(file), { force: true }).catch(() => undefined);
  return open(partOf(file), "wx", 0o600).catch(({ code = "" }: NodeJS.ErrnoException) => refuseUsage(`${partOf(file)} cannot be written (${code}).`));
}

function fileTarget(file: string, handle: FileHandle): Target {
  return {
    async write(text) {
      await handle.appendFile(text);
    },
    async restart() {
      await handle.truncate(0);
      return true;
    },
    async finish() {
      await handle.sync();
      await handle.close();
      await rename(partOf(file), file);
    },
    async discard() {
      await handle.close();
      await rm(partOf(file), { force: true });
    },
  };
}

function standardOutput(): Target {
  let begun = false;
  return {
    async write(text) {
      begun = true;
      if (!process.stdout.write(text)) await once(process.stdout, "drain");
    },
    restart: () => Promise.resolve(!begun),
    finish: () => Promise.resolve(),
    discard: () => Promise.resolve(),
  };
}
