// Finds a program: tries the sources in order, and accepts only a program that runs on this machine.
import { execFile } from "node:child_process";
import { access, constants, stat } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

/** A program that is known to run on this machine. */
export interface Program {
  readonly path: string;
  /** Such as "6.0.5". */
  readonly version: string;
  /** The origin of the program, for people: "PATH (/usr/bin/mongod)". */
  readonly source: string;
}

/** Where to search for programs and keep them, and the receiver of progress lines. */
export interface Search {
  readonly cacheDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly progress: (line: string) => void;
}

/** Identifies a kind of program and its oldest supported version. */
export interface ProgramKind {
  /** The file name, on PATH and in the cache folder. */
  readonly name: string;
  /** Matches the version in the output of `--version`. */
  readonly version: RegExp;
  /** The major and minor parts of the oldest supported version. */
  readonly oldest: readonly [number, number];
  /** The only accepted version, if the operator has named one. */
  readonly only?: string | undefined;
}

/** A source of programs. */
export interface Source {
  readonly name: string;
  /** The reason to report if the source has no program: "mongod is not on PATH". */
  readonly absent: string;
  /** Returns the program's path, or undefined if the source has none. Fails if the program cannot be fetched. */
  find(): Promise<string | undefined>;
}

const run = promisify(execFile);

/**
 * Returns the first program that runs on this machine, or else one reason for each source. If a source fails or its
 * program does not run, reports a line of progress unless it is the last source.
 */
export async function firstUsable(
  kind: ProgramKind,
  sources: readonly Source[],
  progress: (line: string) => void,
): Promise<Program | string[]> {
  const reasons: string[] = [];
  for (const [index, { name, absent, find }] of sources.entries()) {
    try {
      const path = await find();
      if (path !== undefined) return { path, version: await probe(kind, path), source: `${name} (${path})` };
      reasons.push(absent);
    } catch (error) {
      const reason = `${name}: ${messageOf(error)}`;
      reasons.push(reason);
      if (index + 1 < sources.length) progress(`${reason}; trying the next source`);
    }
  }
  return reasons;
}

/**
 * Returns the version that a program reports. Fails if the program does not run on this machine, is too old, or is not
 * of the only accepted version.
 */
export async function probe({ name, version, oldest, only }: ProgramKind, path: string): Promise<string> {
  const { stdout } = await run(path, ["--version"], { timeout: 10_000, killSignal: "SIGKILL" }).catch(
    (error: { stderr?: string; signal?: string }) => {
      // A signal without output means that the processor is too old: mongod ends like this without AVX.
      const signalled = error.signal ? `a signal ended it: ${error.signal}` : undefined;
      throw new Error(`${path} does not run (${lastLine(error.stderr ?? "") ?? signalled ?? messageOf(error)})`);
    },
  );
  const found = version.exec(stdout)?.[1];
  if (found === undefined) throw new Error(`${path} is not a ${name}`);
  const [major = 0, minor = 0] = found.split(".").map(Number);
  if (major < oldest[0] || (major === oldest[0] && minor < oldest[1]))
    throw new Error(`${path} is ${found}, older than ${oldest.join(".")}`);
  if (only !== undefined && found !== only) throw new Error(`${path} is ${found}, not ${only}`);
  return found;
}

/** Returns the path of the first executable of this name on the environment's PATH, or undefined if there is none. */
export async function onPath(name: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  for (const folder of (env["PATH"] ?? "").split(delimiter)) {
    if (folder !== "" && (await isProgram(join(folder, name)))) return join(folder, name);
  }
  return undefined;
}

/** Returns the path of the first of these programs in the cache folder, or undefined if an earlier start kept none. */
export async function findCached(names: readonly string[], cacheDir: string): Promise<string | undefined> {
  for (const name of names) if (await isProgram(join(cacheDir, name))) return join(cacheDir, name);
  return undefined;
}

/** Returns an error's message as one line. */
export function messageOf(error: unknown): string {
  return inOneLine(error instanceof Error ? error.message : String(error));
}

function inOneLine(text: string): string {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join(" ");
}

/** Returns the last line of a program's output that is not blank, or undefined if there is none. */
export function lastLine(output: string): string | undefined {
  return output.trim().split("\n").at(-1)?.trim() || undefined;
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
