// What these tests do to and see of the machine: temporary folders, fake programs, running processes.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import type { EmbeddedOptions } from "../../src/embedded/server.ts";

/** Where the service itself keeps programs, so that the tests fetch none that is there. */
const cacheDir = readConfig({ XDG_CACHE_HOME: process.env["XDG_CACHE_HOME"] }).cacheDir ?? "";

/**
 * A folder that is removed with the test, which fails if a program still uses it. A concurrent test passes its own
 * `onTestFinished`.
 */
export async function temporaryFolder(finished: typeof onTestFinished = onTestFinished): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "records-embedded-"));
  finished(async () => {
    await nothingRuns(folder);
    await rm(folder, { recursive: true, force: true });
  });
  return folder;
}

/** A folder with shell scripts that stand for programs, by name: a PATH on which nothing else is. */
export async function programs(scripts: Record<string, string>): Promise<string> {
  const folder = await temporaryFolder();
  for (const [name, script] of Object.entries(scripts)) await addProgram(folder, name, script);
  return folder;
}

export async function addProgram(folder: string, name: string, script: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
  await chmod(join(folder, name), 0o755);
  return join(folder, name);
}

/** Options for a data folder, and the lines of progress that come of them. */
export function optionsFor(dataDir: string): EmbeddedOptions & { lines: string[] } {
  const lines: string[] = [];
  return { dataDir, cacheDir, env: process.env, progress: (line) => lines.push(line), lines };
}

/** A running process, which is not a zombie. */
interface Running {
  readonly pid: number;
  readonly parent: number;
  /** Its command line and the folder it is in: Redis writes its port over its command line. */
  readonly where: string;
}

/** The running processes that have the text in their command line or folder. */
export async function running(text: string): Promise<Running[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const all = await Promise.all(pids.map((pid) => runningProcess(pid).catch(() => undefined)));
  return all.filter((process) => process?.where.includes(text)) as Running[];
}

async function runningProcess(pid: number): Promise<Running> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (state === "Z") throw new Error(`${pid} is a zombie`);
  const where = `${await readFile(`/proc/${pid}/cmdline`, "utf8")} ${await readlink(`/proc/${pid}/cwd`)}`;
  return { pid, parent: Number(parent), where };
}

/** Waits until no process has the text in its command line or folder. */
export async function nothingRuns(text: string, patience = 8_000): Promise<void> {
  for (const deadline = Date.now() + patience; ; await new Promise((resolve) => setTimeout(resolve, 20))) {
    const left = await running(text);
    if (left.length === 0) return;
    if (Date.now() > deadline) throw new Error(`Still running: ${JSON.stringify(left)}`);
  }
}

/** A service of its own, in its own process group as a shell would start it (test/embedded/service.ts). */
export interface TestService {
  readonly child: ChildProcess;
  readonly pid: number;
  /** What it has printed so far, one message a line. */
  readonly messages: { [name: string]: unknown }[];
  /** The next message that has this member; fails when the service ends first. */
  message(name: string): Promise<{ [name: string]: unknown }>;
}

/** Starts the test's service on the data folder; it is killed with the test, should it still run. */
export function startService(dataDir: string): TestService {
  const script = join(import.meta.dirname, "service.ts");
  const child = spawn(process.execPath, ["--import", "tsx", script, dataDir, cacheDir], {
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const messages: { [name: string]: unknown }[] = [];
  let printed = "";
  child.stdout.on("data", (chunk: Buffer) => {
    const lines = (printed + chunk.toString()).split("\n");
    printed = lines.pop() ?? "";
    for (const line of lines) messages.push(JSON.parse(line) as { [name: string]: unknown });
    child.emit("message-printed");
  });
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
  });
  return {
    child,
    pid: child.pid as number,
    messages,
    async message(name) {
      for (;;) {
        const found = messages.find((message) => name in message);
        if (found !== undefined) return found;
        const gone = await Promise.race([
          once(child, "message-printed").then(() => false),
          once(child, "close").then(() => true),
        ]);
        if (gone && !messages.some((message) => name in message))
          throw new Error(`The service ended without "${name}": ${JSON.stringify(messages)}`);
      }
    },
  };
}
