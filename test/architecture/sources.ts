// The one list of sources, which every rule is checked on: what git knows, and what it does not ignore.
import { execFileSync } from "node:child_process";
import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { clientSchemaFile } from "../../scripts/client-schema.ts";
import type { Source } from "../rules/syntax.ts";

export type { Source } from "../rules/syntax.ts";

const root = join(import.meta.dirname, "../..");

const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "-z"], {
  cwd: root,
  encoding: "utf8",
});
/** Every file of the repository, a new one before it is added too; from the root of the repository. */
export const files: readonly string[] = [...new Set(listed.split("\0"))]
  .filter((path) => lstatSync(join(root, path), { throwIfNoEntry: false })?.isFile())
  .sort();

/** The extensions of what Node, a browser or the compiler reads as code. */
const ofCode = /\.[cm]?[jt]sx?$/;

const plugins = readFileSync(join(root, "buf.gen.yaml"), "utf8");

/** Code that is in no list, with the reason. A path that ends with a slash is a folder. */
export const otherCode: readonly (readonly [path: string, why: string])[] = [
  // By the generators' own words: the folders that buf empties first, and the client's types.
  ...[...plugins.matchAll(/^ +out: (\S+)$/gm)].map(([, folder]) => [`${folder}/`, "is generated"] as const),
  [clientSchemaFile, "is generated"],
  [
    "scripts/generated-clients/programs/typescript-fetch/program.mts",
    "compiles only beside the client that is generated for it",
  ],
];

/** Whether a file is code that is written by hand: what the rules are for. */
export function isHandWritten(path: string): boolean {
  return ofCode.test(path) && !otherCode.some(([one]) => (one.endsWith("/") ? path.startsWith(one) : path === one));
}

/** The sources among these files. */
export function read(paths: readonly string[]): Source[] {
  return paths.map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}

/** All code that is written by hand. */
export const allHandWritten: readonly Source[] = read(files.filter(isHandWritten));

/** The sources in these folders. */
export function sourcesIn(...folders: string[]): Source[] {
  return allHandWritten.filter(({ path }) => folders.some((folder) => path.startsWith(`${folder}/`)));
}

/** What is written by hand, tests and scripts aside. */
export const handWritten: readonly Source[] = sourcesIn(
  ...["src", "gateway", "client/src", "examples", "fixtures", "drills", "bench", "evals"],
);

/** What runs in the service. */
export const served: readonly Source[] = sourcesIn("src", "gateway");
