// Fetches an npm package once into a folder of the user's cache, pinned and without install scripts.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { madeOnce } from "./made-once.ts";

/** A package in the registry. */
export interface NpmPackage {
  readonly name: string;
  readonly version: string;
}

/** The folder of the package, which `fetchPackage` fills; `cacheDir` is that of src/config/config.ts. */
export function packageFolder({ name, version }: NpmPackage, cacheDir: string): string {
  return join(prefixOf({ name, version }, cacheDir), "node_modules", name);
}

/** Fetches the package and its dependencies. Throws with npm's error. */
export function fetchPackage(wanted: NpmPackage, cacheDir: string): void {
  madeOnce(prefixOf(wanted, cacheDir), (making) => {
    const args = ["install", "--prefix", making, "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"];
    // So that an unreachable registry is reported within seconds.
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

/** The first of npm's error lines with a message; the last ones only name its log file. */
function reasonIn(errors: string): string {
  const texts = [...errors.matchAll(/^npm error (\S.*)$/gm)].map(([, text = ""]) => text);
  return texts.find((text) => !/^(?:code|errno|syscall) /.test(text)) ?? texts[0] ?? "it gave no reason";
}

function prefixOf({ name, version }: NpmPackage, cacheDir: string): string {
  return join(cacheDir, "npm", `${name.replaceAll(/[@/]/g, "-").replace(/^-/, "")}-${version}`);
}
