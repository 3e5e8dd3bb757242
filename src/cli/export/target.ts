// Where an export goes: a file that appears when it is whole, a pipe or device that is written as it is, or standard
// output.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { open, readdir, readlink, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { identify, isProcessId, isRunning } from "../../embedded/process-id.ts";
import { CommandError, exitCodes, rejectUsage } from "../exit.ts";

/** A place to write to. */
export interface Target {
  /** Writes a stretch; waits where it is taken slowly. Fails, in words, where it is not taken. */
  write(text: string): Promise<void>;
  /** Begins anew; false where what was written is out already. */
  restart(): Promise<boolean>;
  /** Puts the file in place. Fails, in words, where that cannot be done. */
  finish(): Promise<void>;
  /** Leaves nothing behind. */
  discard(): Promise<void>;
}

/** The target for a path, or for `-`. Fails, in words, where it cannot be written. */
export async function openTarget(file: string): Promise<Target> {
  if (file === "-") return standardOutput();
  const there = await stat(file).catch(({ code = "" }: NodeJS.ErrnoException) =>
    // A link that leads to itself has no end to write to.
    code === "ELOOP" ? rejectUsage(`${file} cannot be written (${code}).`) : undefined,
  );
  if (there?.isDirectory() === true) rejectUsage(`${file} is a folder: name a file, or - for standard output.`);
  // A file in the place of a pipe or a device would break it for everyone else.
  if (there !== undefined && !there.isFile()) return nodeTarget(file, await openNode(file));
  return openFile(await endOfLinks(file));
}

/** Where a path leads, also where nothing is there yet; the path itself where it is no link. */
async function endOfLinks(file: string): Promise<string> {
  const there = await realpath(file).catch(() => undefined);
  if (there !== undefined) return there;
  const next = await readlink(file).catch(() => undefined);
  return next === undefined ? file : endOfLinks(resolve(dirname(file), next));
}

async function openNode(file: string): Promise<FileHandle> {
  return open(file, constants.O_WRONLY).catch(({ code = "" }: NodeJS.ErrnoException) =>
    rejectUsage(`${file} cannot be written (${code}).`),
  );
}

/** What is written until it is whole: no other run has the same, so none can put it in place. */
async function openPart(file: string): Promise<{ readonly part: string; readonly handle: FileHandle }> {
  const own = identify(process.pid);
  if (own !== undefined) await removeLeftParts(file);
  const part = `${file}.${own ?? randomUUID()}.part`;
  // Every write goes to the end, also after what was written was thrown away.
  const handle = await open(part, "ax", 0o600).catch(({ code = "" }: NodeJS.ErrnoException) =>
    rejectUsage(`${file} cannot be written (${code}).`),
  );
  return { part, handle };
}

/** Removes what runs that were killed have left of this file. That of a run which is still at it stays. */
async function removeLeftParts(file: string): Promise<void> {
  const [folder, before, after] = [dirname(file), `${basename(file)}.`, ".part"];
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.startsWith(before) || !name.endsWith(after)) continue;
    const id = name.slice(before.length, -after.length);
    if (isProcessId(id) && !isRunning(id)) await rm(join(folder, name), { force: true }).catch(() => undefined);
  }
}

async function openFile(file: string): Promise<Target> {
  const { part, handle } = await openPart(file);
  const discard = async (): Promise<void> => {
    await handle.close();
    await rm(part, { force: true });
  };
  const fail = async (error: unknown): Promise<never> => {
    const left = await discard().then(
      () => "No part of this export is left.",
      () => `${part} could not be removed.`,
    );
    throw notWritten(file, error, left);
  };
  return {
    discard,
    write: (text) => handle.appendFile(text).catch(fail),
    async restart() {
      await handle.truncate(0).catch(fail);
      return true;
    },
    async finish() {
      try {
        await handle.sync();
        await handle.close();
        await rename(part, file);
      } catch (error) {
        await fail(error);
      }
    },
  };
}

function nodeTarget(file: string, handle: FileHandle): Target {
  let begun = false;
  return {
    async write(text) {
      begun = true;
      await handle.writeFile(text).catch((error: unknown) => {
        throw notWritten(file, error, "The part before the error was written.");
      });
    },
    restart: () => Promise.resolve(!begun),
    finish: () => handle.close(),
    discard: () => handle.close(),
  };
}

function notWritten(file: string, error: unknown, left: string): CommandError {
  const { code = "" } = error as NodeJS.ErrnoException;
  return new CommandError(
    exitCodes.failed,
    "file",
    `${file} cannot be written completely (${code}). Check the free space. ${left}`,
  );
}

function standardOutput(): Target {
  let begun = false;
  // Who reads it may leave early: `records export - … | head`. Then there is nothing left to do.
  process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
    if (code === "EPIPE") process.exit(exitCodes.ok);
  });
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
