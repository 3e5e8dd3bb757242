// Fetches an npm package, pinned and without install scripts, into a folder of the user's cache, once.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { madeOnce } from "./made-once.ts";

/** A package as the registry has it. */
export interface NpmPackage {
  readonly name: string;
  readonly version: string;
}

/** The folder of the package, which `fetchPackage` fills; `cacheDir` is that of src/config/config.ts. */
export function packageFolder({ name, version }: NpmPackage, cacheDir: string): string {
  return join(prefixOf({ name, version }, cacheDir), "node_modules", name);
}

/** Fetches the package and what it depends on. Throws with what npm said last. */
export function fetchPackage(wanted: NpmPackage, cacheDir: string): void {
  madeOnce(prefixOf(wanted, cacheDir), (making) => {
    const args = ["install", "--prefix", making, "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"];
    // An unreachable registry is reported in seconds.
    const retries = ["--fetch-retry-mintimeout", "1000", "--fetch-retry-maxtimeout", "5000"];
    const requirement = `${wanted.name}@${wanted.version}`;
    const { status, stderr, error } = spawnSync("npm", [...args, ...retries, requirement], {
      encoding: "utf8",
      timeout: 600_000,
    });
    if (status !== 0)
      throw new Error(`npm cannot install ${requirement} (${error?.message ?? reasonIn(stderr ?? "")})`);
  });
}

/** The first of npm's errors with a text; the last lines only name its log. */
function reasonIn(errors: string): string {
  const texts = [...errors.matchAll(/^npm error (\S.*)$/gm)].map(([, text = ""]) => text);
  return texts.find((text) => !/^(?:code|errno|syscall) /.test(text)) ?? texts[0] ?? "it reported no reason";
}

function prefixOf({ name, version }: NpmPackage, cacheDir: string): string {
  return join(cacheDir, "npm", `${name.replaceAll(/[@/]/g, "-").replace(/^-/, "")}-${version}`);
}
