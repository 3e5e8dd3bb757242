// Fetches the supported versions of Node from the npm package `node`, each once, into a folder of the user's cache.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { madeOnce } from "./made-once.ts";

/** The supported versions, oldest first. */
export const supportedNodes = ["20.19", "22", "24", "26"] as const;

/** A runnable Node. */
export interface NodeProgram {
  /** Its full version, such as `v24.21.0`. */
  readonly version: string;
  readonly path: string;
}

/**
 * The newest Node of this version, or the one fetched earlier; `cacheDir` is that of src/config/config.ts. Throws with
 * the last line of npm's output if it cannot be fetched, and if what was fetched does not run.
 */
export function nodeProgram(name: string, cacheDir: string, say: (line: string) => void): NodeProgram {
  const folder = join(cacheDir, "nodes", name);
  const isWhole = (): boolean => existsSync(programIn(folder));
  madeOnce(folder, (making) => install(name, making, say), isWhole);
  const path = programIn(folder);
  const version = versionOf(path);
  if (version === undefined || !version.startsWith(`v${name}.`))
    throw new Error(
      `expected Node ${name} at ${path}, found ${version ?? "nothing that runs"}. Remove ${folder} and try again.`,
    );
  return { version, path };
}

/** The path of a Node of at least this version: the current one, or else the newest of that major version, fetched. */
export function nodeOfAtLeast(
  { major, minor }: { readonly major: number; readonly minor: number },
  cacheDir: string,
): string {
  const [ownMajor = 0, ownMinor = 0] = process.versions.node.split(".").map(Number);
  if (ownMajor > major || (ownMajor === major && ownMinor >= minor)) return process.execPath;
  return nodeProgram(String(major), cacheDir, (line) => console.log(line)).path;
}

function install(name: string, folder: string, say: (line: string) => void): void {
  say(`Fetching Node ${name} from the npm package "node" (about 50 MB) ...`);
  const args = ["install", "--prefix", folder, "--no-save", "--no-audit", "--no-fund", `node@${name}`];
  // Shows npm's own progress when a user is watching.
  const stdio = ["ignore", "inherit", process.stderr.isTTY ? "inherit" : "pipe"] as const;
  const { status, stderr, error } = spawnSync("npm", args, { encoding: "utf8", stdio: [...stdio], timeout: 600_000 });
  if (status !== 0) throw new Error(`npm cannot install node@${name}: ${error?.message ?? lastLine(stderr)}`);
  // The package downloads the program with its install script.
  if (!existsSync(programIn(folder)))
    throw new Error(
      `npm installed node@${name} without its executable. Allow the install script of package "node" and try again.`,
    );
}

function programIn(folder: string): string {
  return join(folder, "node_modules", "node", "bin", "node");
}

function versionOf(path: string): string | undefined {
  const { status, stdout } = spawnSync(path, ["--version"], { encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}

function lastLine(text: string | null): string {
  return text?.trim().split("\n").at(-1) ?? "it failed without output";
}
