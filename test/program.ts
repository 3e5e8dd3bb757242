// The real program as a child process in a process group of its own, as a shell would start it.
import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import type { Readable } from "node:stream";
import { join } from "node:path";
import { requireServiceUser } from "./fixtures/databases/database.ts";

export interface Program {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Where it says that it is; empty as long as it has not. */
  readonly base: string;
  readonly internal: string;
  readonly stdout: string;
  readonly stderr: string;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
}

const main = join(import.meta.dirname, "..", "bin", "start.js");

/**
 * Starts the program with these settings and no other of ours, on free ports unless said otherwise. What it prints is
 * collected, unless its standard output is another file.
 */
export function spawnProgram(settings: Record<string, string>, output: number | "pipe" = "pipe"): Program {
  const { PATH, HOME, XDG_CACHE_HOME } = process.env;
  requireServiceUser(settings["MONGODB_URI"] ?? "");
  const env = {
    PATH,
    HOME,
    ...(XDG_CACHE_HOME === undefined ? {} : { XDG_CACHE_HOME }),
    PORT: "0",
    INTERNAL_PORT: "0",
    ...settings,
  };
  const child = spawn(process.execPath, [main], {
    detached: true,
    stdio: ["ignore", output, "pipe"] as ["ignore", "pipe", "pipe"],
    env,
    cwd: join(import.meta.dirname, ".."),
  });
  let stdout = "";
  let stderr = "";
  (child.stdout as Readable | null)?.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = once(child, "close").then(([code, signal]) => (code ?? signal) as number | string);
  const find = (pattern: RegExp): string => pattern.exec(stdout)?.[1] ?? "";
  return {
    child,
    pid: child.pid as number,
    get base() {
      return find(/^ {2}REST, Connect, gRPC +(\S+)$/m);
    },
    get internal() {
      return find(/^ {2}internal +(\S+)$/m);
    },
    get stdout() {
      return stdout;
    },
    get stderr() {
      return stderr;
    },
    ended,
  };
}

/** Starts the program and waits until it says where it is; fails with what it said when it ends before. */
export async function startProgram(settings: Record<string, string>): Promise<Program> {
  const program = spawnProgram(settings);
  const given = AbortSignal.timeout(90_000);
  let gone: number | string | undefined;
  void program.ended.then((how) => (gone = how));
  while (program.internal === "") {
    if (gone !== undefined || given.aborted)
      throw new Error(`the program did not start (${String(gone)}): ${program.stdout}${program.stderr}`);
    await new Promise((soon) => setTimeout(soon, 20));
  }
  return program;
}

/** Ends it, should it still run. */
export async function endProgram(program: Program | undefined): Promise<void> {
  if (program === undefined || program.child.exitCode !== null || program.child.signalCode !== null) return;
  program.child.kill("SIGTERM");
  await program.ended;
}

/** A folder for `DATA_DIR`, and how to remove it. */
export function dataFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "records-main-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
