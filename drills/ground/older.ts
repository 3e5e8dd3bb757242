// Checks out an older commit into a temporary folder, so that its code runs beside this one: for drills and the bench.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** The older code, ready to be started. */
export interface OlderCode {
  /** Its full commit id. */
  readonly commit: string;
  readonly folder: string;
  /** Where its dependencies come from, for people. */
  readonly dependencies: string;
}

const root = join(import.meta.dirname, "..", "..");

/** Whether the commit is in this clone: a shallow clone or an unpacked archive may not have it. */
export function hasCommit(commit: string): boolean {
  try {
    git("cat-file", "-e", `${commit}^{commit}`);
    return true;
  } catch {
    return false;
  }
}

/** Runs the work with the older code and removes its folder afterwards. Rejects if this clone lacks the commit. */
export async function withOlderCode<T>(name: string, work: (older: OlderCode) => Promise<T>): Promise<T> {
  if (!hasCommit(name))
    throw new Error(
      `This clone has no commit ${name}. Fetch the whole history (git fetch --unshallow), or name another by --from.`,
    );
  const commit = git("rev-parse", `${name}^{commit}`);
  const scratch = mkdtempSync(join(tmpdir(), "records-older-"));
  const folder = join(scratch, "code");
  const modules = join(folder, "node_modules");
  let linked = false;
  try {
    git("worktree", "add", "--detach", "--quiet", folder, commit);
    linked = sameLock(folder);
    if (linked) symlinkSync(join(root, "node_modules"), modules);
    else
      execFileSync("npm", ["ci", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund"], {
        cwd: folder,
        stdio: ["ignore", "ignore", "pipe"],
      });
    return await work({
      commit,
      folder,
      dependencies: linked ? "those of this code: package-lock.json is the same" : "its own, by npm ci",
    });
  } finally {
    // Nothing that removes the folder may follow this link.
    if (linked) unlinkSync(modules);
    if (existsSync(folder)) git("worktree", "remove", "--force", folder);
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** What node runs for one of its programs: its bundle, or the source in commits before there were bundles. */
export async function programOf({ folder }: OlderCode, source: string): Promise<readonly string[]> {
  if (!existsSync(join(folder, source))) throw new Error(`${source} is not in that commit: name a newer one.`);
  const bundler = join(folder, "bin/bundle.js");
  if (!existsSync(bundler))
    return ["--import", pathToFileURL(join(folder, "node_modules/tsx/dist/loader.mjs")).href, join(folder, source)];
  const { bundled } = (await import(pathToFileURL(bundler).href)) as { bundled(source: string): Promise<string> };
  return [await bundled(source)];
}

function sameLock(folder: string): boolean {
  return runtimePackages(folder) === runtimePackages(root);
}

/** The runtime packages; packages for checks and tests may differ. */
function runtimePackages(of: string): string {
  const { packages } = JSON.parse(readFileSync(join(of, "package-lock.json"), "utf8")) as Lock;
  const [, ...installed] = Object.entries(packages);
  return JSON.stringify(installed.filter(([, { dev, devOptional }]) => dev !== true && devOptional !== true));
}

/** The fields of package-lock.json that this file reads; the first package is the project itself. */
interface Lock {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly devOptional?: boolean }>>;
}

function git(...args: readonly string[]): string {
  return execFileSync("git", ["-C", root, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
}
