// Finds a program: tries one source after the other, and trusts only what runs here.
import { execFile } from "node:child_process";
import { access, constants, stat } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

/** A program that has been seen to run here. */
export interface Program {
  readonly path: string;
  /** "6.0.5" */
  readonly version: string;
  /** Where it came from, for people: "PATH (/usr/bin/mongod)". */
  readonly source: string;
}

/** Where programs are looked for and kept, and who gets the progress. */
export interface Search {
  readonly cacheDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly progress: (line: string) => void;
}

/** What identifies a kind of program, and whether it is recent enough. */
export interface ProgramKind {
  /** Its file name, on PATH and where it is kept. */
  readonly name: string;
  /** Finds the version in what `--version` prints. */
  readonly version: RegExp;
  /** Major and minor version of the oldest that will do. */
  readonly oldest: readonly [number, number];
}

/** One place that a program may come from. */
export interface Source {
  readonly name: string;
  /** What to say where it has none: "mongod is not on PATH". */
  readonly absent: string;
  /** The program's path; undefined where there is none; fails where getting it failed. */
  find(): Promise<string | undefined>;
}

const run = promisify(execFile);

/**
 * The first program that runs here, or why there is none: one reason for each source. A source that fails, or whose
 * program does not run, costs one line of progress if there is another.
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

/** The version of a program, as it reports itself. Fails where it does not run here or is too old. */
export async function probe({ name, version, oldest }: ProgramKind, path: string): Promise<string> {
  const { stdout } = await run(path, ["--version"], { timeout: 10_000, killSignal: "SIGKILL" }).catch(
    (error: { stderr?: string; signal?: string }) => {
      // By a signal and without a word: a processor too old for the program, as mongod ends without AVX.
      const signalled = error.signal ? `a signal ended it: ${error.signal}` : undefined;
      throw new Error(`${path} does not run (${lastLine(error.stderr ?? "") ?? signalled ?? messageOf(error)})`);
    },
  );
  const found = version.exec(stdout)?.[1];
  if (found === undefined) throw new Error(`${path} is not a ${name}`);
  const [major = 0, minor = 0] = found.split(".").map(Number);
  if (major < oldest[0] || (major === oldest[0] && minor < oldest[1]))
    throw new Error(`${path} is ${found}, older than ${oldest.join(".")}`);
  return found;
}

/** The program that the name stands for on the environment's PATH. */
export async function onPath(name: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  for (const folder of (env["PATH"] ?? "").split(delimiter)) {
    if (folder !== "" && (await isProgram(join(folder, name)))) return join(folder, name);
  }
  return undefined;
}

/** The program kept in the cache folder from an earlier start. */
export async function kept(name: string, cacheDir: string): Promise<string | undefined> {
  return (await isProgram(join(cacheDir, name))) ? join(cacheDir, name) : undefined;
}

/** An error's message in one line. */
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

/** The last line of what a program printed that is not blank. */
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
