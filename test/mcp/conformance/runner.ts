// Runs the official conformance suite, which is no dependency: it is fetched, and runs on Node 22 or later.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { nodeOfAtLeast } from "../../../scripts/node-programs.ts";
import type { NpmPackage } from "../../../scripts/npm-package.ts";
import { fetchPackage, packageFolder } from "../../../scripts/npm-package.ts";

/** One thing that a scenario looks at. */
export interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

/** Its program, and the Node that runs it. */
export interface Runner {
  readonly node: string;
  readonly program: string;
}

/** The suite, pinned. */
export const conformance: NpmPackage = { name: "@modelcontextprotocol/conformance", version: "0.2.0-alpha.12" };
/** It imports `globSync` from `node:fs`. */
const minNode = { major: 22, minor: 0 };
const run = promisify(execFile);

/** Fetches the runner where it is not in the cache. Throws where it cannot be fetched. */
export function fetchRunner(cacheDir: string): Runner {
  fetchPackage(conformance, cacheDir);
  return {
    node: nodeOfAtLeast(minNode, cacheDir),
    program: join(packageFolder(conformance, cacheDir), "dist", "index.js"),
  };
}

/** Runs the scenarios that `args` select against the address, and returns the checks of each by its name. */
export async function checksOf(
  { node, program }: Runner,
  url: string,
  args: readonly string[],
): Promise<ReadonlyMap<string, readonly Check[]>> {
  const folder = mkdtempSync(join(tmpdir(), "records-conformance-"));
  try {
    const all = [program, "server", "--url", url, "--output-dir", folder, ...args];
    // It ends with 1 where a check failed: the checks themselves are returned.
    await run(node, all, { cwd: folder, maxBuffer: 2 ** 24 }).catch(() => undefined);
    return new Map(
      readdirSync(folder).flatMap((name) => {
        const [, scenario] = /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(name) ?? [];
        if (scenario === undefined) return [];
        return [[scenario, JSON.parse(readFileSync(join(folder, name, "checks.json"), "utf8")) as Check[]]];
      }),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
