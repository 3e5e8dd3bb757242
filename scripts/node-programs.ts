// Fetches a newer Node than the current one, which some tools need, from the npm package `node`, once, into a folder of
// the user's cache.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { madeOnce } from "./made-once.ts";

/**
 * The path of a Node of at least this version: the current one, or else the newest of that major version, fetched.
 * `cacheDir` is that of src/config/config.ts. Throws with the last line of npm's output if it cannot be fetched.
 */
export function nodeOfAtLeast(
  { major, minor }: { readonly major: number; readonly minor: number },
  cacheDir: string,
): string {
  const [ownMajor = 0, ownMinor = 0] = process.versions.node.split(".").map(Number);
  if (ownMajor > major || (ownMajor === major && ownMinor >= minor)) return process.execPath;
  const folder = join(cacheDir, "nodes", String(major));
  const isWhole = (): boolean => existsSync(programIn(folder));
  madeOnce(folder, (making) => install(major, making), isWhole);
  return programIn(folder);
}

function install(major: number, folder: string): void {
  console.log(`Fetching Node ${major} from the npm package "node" (about 50 MB) ...`);
  const args = ["install", "--prefix", folder, "--no-save", "--no-audit", "--no-fund", `node@${major}`];
  const { status, stderr, error } = spawnSync("npm", args, { encoding: "utf8", timeout: 600_000 });
  if (status !== 0) throw new Error(`npm cannot install node@${major}: ${error?.message ?? lastLine(stderr)}`);
  // The package downloads the program with its install script.
  if (!existsSync(programIn(folder)))
    throw new Error(
      `npm installed node@${major} without its executable. Allow the install script of package "node" and try again.`,
    );
}

function programIn(folder: string): string {
  return join(folder, "node_modules", "node", "bin", "node");
}

function lastLine(text: string | null): string {
  return text?.trim().split("\n").at(-1) ?? "it failed without output";
}
