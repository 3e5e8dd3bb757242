// The `records` command line against a service of the tests: as a child process, or in this one, which takes a tenth of
// the processor time.
import { AsyncLocalStorage } from "node:async_hooks";
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { afterAll } from "vitest";
import { run } from "../../src/cli/program.ts";
import type { TestService } from "../fixtures/service/service.ts";

/** How a command ended, and what it said. */
export interface Ended {
  /** Its exit code, or the signal that ended it. */
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

/** What a command is given besides its arguments. */
interface GivenAtOnce {
  /** All of its standard input. */
  readonly input?: string;
  readonly environment?: Record<string, string>;
}
interface Given extends Omit<GivenAtOnce, "input"> {
  /** `open` where the test writes to it itself. */
  readonly input?: string | { readonly open: true };
}

const bin = join(import.meta.dirname, "../../bin/records.js");

/** These settings and no other of ours. */
function environmentWith(settings: Record<string, string>): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env;
  // A folder that does not exist, so that no service on this machine is found.
  return { PATH, HOME, DATA_DIR: join(tmpdir(), "no-records-here"), ...settings };
}

/** Starts a command with these settings as a child process. */
export function startCli(args: readonly string[], { input = "", environment = {} }: Given = {}): Running {
  const child = spawn(process.execPath, [bin, ...args], { env: environmentWith(environment) });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdin.on("error", () => undefined);
  if (typeof input === "string") child.stdin.end(input);
  return {
    child,
    ended: new Promise((resolve) =>
      child.once("close", (code, signal) => resolve({ code: code ?? signal ?? "", stdout, stderr })),
    ),
  };
}

/** The options that point to a service of the tests. */
export function settingsFor(service: TestService): Record<string, string> {
  return { RECORDS_INTERNAL_URL: service.internal, SERVICE_TOKENS: service.serviceToken };
}

/** The standard streams of the command in this process on whose behalf code runs. */
const streams = new AsyncLocalStorage<Readonly<Record<string, Readable | Writable>>>();
for (const name of ["stdin", "stdout", "stderr"] as const) {
  const own = Object.getOwnPropertyDescriptor(process, name)?.get;
  Object.defineProperty(process, name, {
    configurable: true,
    get: () => streams.getStore()?.[name] ?? own?.call(process),
  });
}

/** Runs a command with these settings in this process to its end. */
export async function runCommand(
  args: readonly string[],
  { input = "", environment = {} }: GivenAtOnce = {},
): Promise<Ended> {
  const written = { stdout: "", stderr: "" };
  const into = (name: keyof typeof written): Writable =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        written[name] += chunk.toString();
        done();
      },
    });
  const own = { stdin: Readable.from([Buffer.from(input)]), stdout: into("stdout"), stderr: into("stderr") };
  const code = await streams.run(own, () => run(args, environmentWith(environment)));
  return { code, ...written };
}

/** Runs a command against a service to its end. */
export function cli(service: TestService, args: readonly string[], given: GivenAtOnce = {}): Promise<Ended> {
  return runCommand(args, { ...given, environment: { ...settingsFor(service), ...given.environment } });
}

/** The same with `--json`; the document of a command that succeeds, or ends with `code`. */
// Tests read documents of every shape.
// eslint-disable-next-line
export async function cliJson(
  service: TestService,
  args: readonly string[],
  given: GivenAtOnce & { readonly code?: number } = {},
): Promise<any> {
  const ended = await cli(service, ["--json", ...args], given);
  if (ended.code !== (given.code ?? 0))
    throw new Error(`records ${args.join(" ")} ended with ${ended.code}: ${ended.stdout}${ended.stderr}`);
  return JSON.parse(ended.stdout);
}

/** A folder of the test file, removed after its tests. */
export function useFolder(): { path(name: string): string; write(name: string, content: string | Uint8Array): string } {
  const folder = mkdtempSync(join(tmpdir(), "records-cli-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const path = (name: string): string => join(folder, name);
  return {
    path,
    write(name, content) {
      writeFileSync(path(name), content);
      return path(name);
    },
  };
}
