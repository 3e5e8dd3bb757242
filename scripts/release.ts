// `npm run release -- minor`: makes a release from a clean tree, with its changelog entry, commit, tag and packages.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

const changelog = "CHANGELOG.md";
const output = "release";
const semantic = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/;

/** Files that contain the version, and the text around it. */
const places: readonly (readonly [file: string, around: (version: string) => string])[] = [
  ["package.json", (version) => `"version": "${version}"`],
  ["client/package.json", (version) => `"version": "${version}"`],
  ["package-lock.json", (version) => `"name": "records",\n  "version": "${version}"`],
  ["package-lock.json", (version) => `"name": "records",\n      "version": "${version}"`],
  ["package-lock.json", (version) => `"name": "@records-api/client",\n      "version": "${version}"`],
  ["Dockerfile", (version) => `ARG VERSION=${version}`],
  ["deploy/kubernetes/example/kustomization.yaml", (version) => `newTag: ${version}`],
];

try {
  release(process.argv[2] ?? "");
} catch (error) {
  console.error(`release: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}

function release(step: string): void {
  const { version: before } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  const version = nextVersion(before, step);
  const tag = `v${version}`;
  // Everything is checked before anything is written.
  if (git("status", "--porcelain") !== "")
    throw new Error("the tree has uncommitted changes: commit or discard them first");
  if (git("tag", "--list", tag) !== "") throw new Error(`the tag ${tag} already exists`);
  const { text, entry } = datedChangelog(readFileSync(changelog, "utf8"), version);
  const edited = withVersion(before, version);
  for (const [file, content] of [...edited, [changelog, text] as const]) writeFileSync(file, content);
  git("add", changelog, ...edited.keys());
  git("commit", "--quiet", "--message", `Release ${version}`);
  git("tag", "--annotate", "--cleanup=verbatim", "--message", `Records ${version}\n\n${entry}`, tag);
  pack(version, tag);
  console.log(`Released ${version}. Push it with: git push --follow-tags`);
}

function nextVersion(before: string, step: string): string {
  const [, major = 0, minor = 0, patch = 0] = (semantic.exec(before) ?? []).map(Number);
  const steps: Readonly<Record<string, string>> = {
    major: `${major + 1}.0.0`,
    minor: `${major}.${minor + 1}.0`,
    patch: `${major}.${minor}.${patch + 1}`,
  };
  const version = steps[step] ?? step;
  if (!semantic.test(version))
    throw new Error(`expected major, minor, patch or a version such as 1.2.0, not "${step}"`);
  const [one, other] = [version, before].map((text) => text.split(".").map(Number));
  const at = (one ?? []).findIndex((number, index) => number !== other?.[index]);
  if (at === -1 || (one?.[at] ?? 0) < (other?.[at] ?? 0)) throw new Error(`${version} is not later than ${before}`);
  return version;
}

/** The changelog with the unreleased changes moved under the new version, and that entry alone. */
function datedChangelog(text: string, version: string): { text: string; entry: string } {
  const [, head = "", unreleased = "", rest = ""] =
    /^([\s\S]*?\n## Unreleased\n)([\s\S]*?)(\n## \d[\s\S]*|$)$/.exec(text) ?? [];
  const entry = unreleased.trim();
  if (entry === "") throw new Error(`${changelog} has nothing under Unreleased`);
  const date = new Date().toISOString().slice(0, 10);
  return { text: `${head}\n## ${version} (${date})\n\n${entry}\n${rest}`, entry };
}

/** The files with the new version. Throws if one does not contain the old version. */
function withVersion(before: string, version: string): ReadonlyMap<string, string> {
  const edited = new Map<string, string>();
  for (const [file, around] of places) {
    const text = edited.get(file) ?? readFileSync(file, "utf8");
    if (!text.includes(around(before))) throw new Error(`${file} does not have ${around(before)}`);
    edited.set(file, text.replace(around(before), around(version)));
  }
  return edited;
}

/** The tagged source with its lock file, and the client as published. */
function pack(version: string, tag: string): void {
  mkdirSync(output, { recursive: true });
  git(
    "archive",
    "--format=tar.gz",
    `--prefix=records-${version}/`,
    `--output=${output}/records-${version}.tar.gz`,
    tag,
  );
  run("npm", "run", "build", "--workspace", "@records-api/client");
  run("npm", "pack", "--workspace", "@records-api/client", "--pack-destination", output);
}

function git(...options: string[]): string {
  return run("git", ...options);
}

/** The program's output. Throws with its error output if it fails. */
function run(program: string, ...options: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, options, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${options[0] ?? ""}: ${error?.message ?? (stderr || stdout).trim()}`);
  return stdout.trim();
}
