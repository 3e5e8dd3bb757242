// Targets of an export: a file that appears once complete, a pipe or device that is written directly, or standard
// output.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { open, readdir, readlink, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { isatty } from "node:tty";
import { identify, isProcessId, isRunning } from "../../embedded/process-id.ts";
import { CommandError, exitCodes, rejectUsage } from "../exit.ts";
import { printableFile } from "../output.ts";

/** An open target. */
export interface Target {
  /** Writes text, and waits while the reader is slow. Fails with a message for the user if it cannot be written. */
  write(text: string): Promise<void>;
  /** Discards the output to start again. Returns false if part of it can no longer be taken back. */
  restart(): Promise<boolean>;
  /** Completes the output, and moves a file into place. Fails with a message for the user. */
  finish(): Promise<void>;
  /** Closes the target, and removes an incomplete file. */
  discard(): Promise<void>;
}

/** Fails with a usage error if a path leads to a folder. */
export async function rejectFolder(file: string): Promise<void> {
  const there = await stat(file).catch(() => undefined);
  if (there?.isDirectory() === true) rejectUsage(`${file} is a folder: name a file, or - for standard output.`);
}

/** Opens the target for a path, or standard output for `-`. Fails with a usage error if it cannot be written. */
export async function openTarget(file: string): Promise<Target> {
  if (file === "-") return standardOutput();
  const there = await stat(file).catch(({ code = "" }: NodeJS.ErrnoException) =>
    // A link to itself leads to no file.
    code === "ELOOP" ? rejectUsage(`${file} cannot be written (${code}).`) : undefined,
  );
  // Replacing a pipe or a device by a file would break it for all other users.
  if (there !== undefined && !there.isFile()) return nodeTarget(file, await openNode(file));
  return openFile(await endOfLinks(file));
}

/** Resolves the links of a path, even if they lead to no existing file. Returns any other path unchanged. */
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

/** Opens the temporary file of an incomplete export. Its name is unique, so no other run can move it into place. */
async function openPart(file: string): Promise<{ readonly part: string; readonly handle: FileHandle }> {
  const own = identify(process.pid);
  if (own !== undefined) await removeLeftParts(file);
  const part = `${file}.${own ?? randomUUID()}.part`;
  // In append mode, writes after a truncation start at the new end.
  const handle = await open(part, "ax", 0o600).catch(({ code = "" }: NodeJS.ErrnoException) =>
    rejectUsage(`${file} cannot be written (${code}).`),
  );
  return { part, handle };
}

/** Removes temporary files of this target that killed runs have left. Keeps those of running processes. */
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
  const shown = isatty(handle.fd) ? printableFile : asIs;
  return onceOnly(
    (text) =>
      handle.writeFile(shown(text)).catch((error: unknown) => {
        throw notWritten(file, error, "The part before the error was written.");
      }),
    () => handle.close(),
  );
}

/** Returns a target whose output cannot be taken back. */
function onceOnly(write: Target["write"], close: () => Promise<void>): Target {
  let begun = false;
  return {
    write(text) {
      begun = true;
      return write(text);
    },
    restart: () => Promise.resolve(!begun),
    finish: close,
    discard: close,
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

/** Pipes and files get the exact text. */
function asIs(text: string): string {
  return text;
}

function standardOutput(): Target {
  const shown = process.stdout.isTTY === true ? printableFile : asIs;
  // The reader may leave early, as in `records export - … | head`. The export is then finished.
  process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
    if (code === "EPIPE") process.exit(exitCodes.ok);
  });
  return onceOnly(
    async (text) => {
      if (!process.stdout.write(shown(text))) await once(process.stdout, "drain");
    },
    () => Promise.resolve(),
  );
}
