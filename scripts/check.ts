// `npm run check`: lints protos and code, checks that generated files are up to date, compiles, and proves regular
// expressions linear. Changes no files.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buf, releasedImage } from "./buf.ts";
import { generatedFiles } from "./generated.ts";

/** Takes as long as many of the other steps together, so it runs in parallel with them. */
const linear = once(spawn("node_modules/.bin/tsx", ["scripts/check-linear.ts"], { stdio: "inherit" }), "close");

type Step = readonly [failure: string, step: () => boolean | Promise<boolean>];
const steps: readonly Step[] = [
  ["the protos break a lint rule (buf lint)", () => buf("lint")],
  [
    `the protos break compatibility with the release in ${releasedImage} (buf breaking)`,
    () => buf("breaking", "proto", "--against", releasedImage),
  ],
  ["src/gen is out of date with the protos: run `npm run generate` and review the diff", isGenerated],
  ...generatedFiles.map(
    ({ path, source, make }): Step => [
      `${path} is out of date with ${source}: run \`npm run generate\``,
      () => make() === read(path),
    ],
  ),
  [
    "the code is not formatted or breaks a rule of biome.jsonc: run `npm run format`",
    () => run("node_modules/.bin/biome", "check", "--error-on-warnings"),
  ],
  ["the code does not compile (tsc --noEmit)", () => tsc("--noEmit")],
  [
    "the client does not compile for browsers (tsc -p client/tsconfig.json)",
    () => run("client/node_modules/.bin/tsc", "-p", "client/tsconfig.json", "--noEmit"),
  ],
  ["the dashboard's scripts do not compile (tsc -p tsconfig.page.json)", () => tsc("-p", "tsconfig.page.json")],
  ["a regular expression may need more than linear time", async () => (await linear)[0] === 0],
];

for (const [failure, step] of steps) {
  if (await step()) continue;
  console.error(`check failed: ${failure}`);
  process.exitCode = 1;
}

function tsc(...options: string[]): boolean {
  return run("node_modules/.bin/tsc", ...options);
}

function run(program: string, ...options: string[]): boolean {
  return spawnSync(program, options, { stdio: "inherit" }).status === 0;
}

function isGenerated(): boolean {
  return isSame("src/gen", (folder) => buf("generate", "--output", folder));
}

/** Generates into a temporary folder and compares, so that it works on any tree and leaves it untouched. */
function isSame(path: string, generate: (folder: string) => boolean): boolean {
  const folder = mkdtempSync(join(tmpdir(), "records-check-"));
  try {
    if (!generate(folder)) return false;
    const fresh = join(folder, path);
    const differing = [...new Set([...filesOf(fresh), ...filesOf(path)])].filter(
      (name) => read(join(fresh, name)) !== read(join(path, name)),
    );
    for (const name of differing) console.error(`differs: ${path}/${name}`);
    return differing.length === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
