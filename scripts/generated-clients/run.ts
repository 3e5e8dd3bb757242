// Runs the tools of other languages, and keeps what they install in the user's cache folder.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";

const lastLines = 15;

/** Runs a program and returns what it printed. Throws with its last lines when it fails. */
export function run(
  program: string,
  args: readonly string[],
  cwd: string,
  environment: Readonly<Record<string, string>> = {},
): { readonly out: string; readonly all: string } {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    env: { ...process.env, ...environment },
    encoding: "utf8",
    timeout: 600_000,
    maxBuffer: 64 * 1024 * 1024,
  });
  if (error !== undefined) throw error;
  const all = `${stdout}${stderr}`;
  if (status !== 0)
    throw new Error(`${program} ended with ${status}\n${all.trim().split("\n").slice(-lastLines).join("\n")}`);
  return { out: stdout, all };
}

/** Makes a folder once. It is made beside its place and then moved, so that nobody ever sees half of it. */
export function installed(folder: string, install: (folder: string) => void): string {
  if (existsSync(folder)) return folder;
  const making = `${folder}.${process.pid}`;
  mkdirSync(dirname(folder), { recursive: true });
  try {
    mkdirSync(making);
    install(making);
    // Another run may have been faster: what it made is as good.
    if (!existsSync(folder)) renameSync(making, folder);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  return folder;
}
