// `npm run release` in a scratch clone: what it checks, and the entry, versions, tag and packages that it makes.
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "records-release-"));
const origin = join(folder, "origin");
const tree = join(folder, "clone");

beforeAll(() => {
  for (const path of [
    ...["package.json", "package-lock.json", "CHANGELOG.md", "Dockerfile", "LICENSE", ".gitignore"],
    ...["client", "scripts/release.ts", "deploy/kubernetes/example/kustomization.yaml"],
  ])
    cpSync(join(root, path), join(origin, path), {
      recursive: true,
      filter: (from) => !/\/(?:node_modules|dist)(?:\/|$)/.test(from.slice(root.length)),
    });
  // The number that the package has today is not of this test.
  for (const [command, ...options] of [
    ["init", "--quiet", "--initial-branch=main"],
    ["add", "."],
    ["commit", "--quiet", "--message", "Begin"],
  ] as const)
    expect(git(origin, command, ...options).status).toBe(0);
  expect(git(folder, "clone", "--quiet", origin, tree).status).toBe(0);
  // The pattern of .gitignore is for folders, and these are links.
  appendFileSync(join(tree, ".git/info/exclude"), "node_modules\n");
  symlinkSync(join(root, "node_modules"), join(tree, "node_modules"));
  symlinkSync(join(root, "client/node_modules"), join(tree, "client/node_modules"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const author = {
  GIT_AUTHOR_NAME: "A",
  GIT_AUTHOR_EMAIL: "a@example.com",
  GIT_COMMITTER_NAME: "A",
  GIT_COMMITTER_EMAIL: "a@example.com",
};

function git(cwd: string, ...options: string[]): { status: number | null; stdout: string } {
  return spawnSync("git", options, { cwd, encoding: "utf8", env: { ...process.env, ...author } });
}

function release(step: string): { status: number | null; stdout: string; stderr: string } {
  const tsx = join(root, "node_modules/tsx/dist/esm/index.mjs");
  return spawnSync(process.execPath, ["--import", tsx, "scripts/release.ts", step], {
    cwd: tree,
    encoding: "utf8",
    env: { ...process.env, ...author },
  });
}

function versionIn(file: string): string {
  return (JSON.parse(readFileSync(join(tree, file), "utf8")) as { version: string }).version;
}

function setUnreleased(text: string): void {
  const path = join(tree, "CHANGELOG.md");
  writeFileSync(path, readFileSync(path, "utf8").replace(/(## Unreleased\n)[\s\S]*?(?=\n## \d)/, `$1${text}`));
  git(tree, "commit", "--quiet", "--all", "--message", "Changelog");
}

test("the package's release command runs the script", () => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  expect(scripts["release"]).toBe("tsx scripts/release.ts");
});

test("rejects a tree with changes, an invalid or earlier version, an empty entry and an existing tag, and writes nothing", () => {
  const before = versionIn("package.json");
  const head = git(tree, "rev-parse", "HEAD").stdout;
  appendFileSync(join(tree, "Dockerfile"), "# changed\n");
  expect(release("minor")).toMatchObject({
    status: 1,
    stderr: "release: the tree has uncommitted changes: commit or discard them first\n",
  });
  git(tree, "checkout", "--quiet", "Dockerfile");
  expect(release("").stderr).toContain("expected major, minor, patch or a version");
  expect(release("1.2").stderr).toContain('not "1.2"');
  expect(release(before).stderr).toContain(`${before} is not later than ${before}`);
  expect(release("0.9.9").stderr).toContain("is not later than");
  git(tree, "tag", "v99.0.0");
  expect(release("99.0.0").stderr).toContain("the tag v99.0.0 already exists");
  git(tree, "tag", "--delete", "v99.0.0");
  expect([versionIn("package.json"), git(tree, "rev-parse", "HEAD").stdout, git(tree, "tag").stdout]).toEqual([
    before,
    head,
    "",
  ]);
  setUnreleased("\n");
  expect(release("minor").stderr).toContain("CHANGELOG.md has nothing under Unreleased");
});

test("dates the entry, sets every version, commits, tags with the entry, and packs the source and the client", () => {
  const [major = 0, minor = 0] = versionIn("package.json").split(".").map(Number);
  const version = `${major}.${minor + 1}.0`;
  setUnreleased("\n### Added\n\n- A thing for people.\n");
  const done = release("minor");
  expect([done.stderr, done.status]).toEqual(["", 0]);
  expect(done.stdout).toContain(`Released ${version}.`);
  const text = readFileSync(join(tree, "CHANGELOG.md"), "utf8");
  const today = new Date().toISOString().slice(0, 7);
  expect(text).toMatch(
    new RegExp(
      `## Unreleased\\n\\n## ${version.replaceAll(".", "\\.")} \\(${today}-\\d\\d\\)\\n\\n### Added\\n\\n- A thing for people\\.\\n\\n## `,
    ),
  );
  for (const file of ["package.json", "client/package.json", "package-lock.json"])
    expect(versionIn(file)).toBe(version);
  expect(readFileSync(join(tree, "Dockerfile"), "utf8")).toContain(`ARG VERSION=${version}\n`);
  expect(git(tree, "status", "--porcelain").stdout).toBe("");
  expect(git(tree, "log", "-1", "--format=%s").stdout).toBe(`Release ${version}\n`);
  expect(git(tree, "describe", "--exact-match").stdout).toBe(`v${version}\n`);
  expect(git(tree, "tag", "--list", `v${version}`, "--format=%(contents)").stdout).toContain(
    "### Added\n\n- A thing for people.",
  );
  expect(existsSync(join(tree, `release/records-${version}.tar.gz`))).toBe(true);
  const listed = spawnSync("tar", ["-tzf", join(tree, `release/records-api-client-${version}.tgz`)], {
    encoding: "utf8",
  }).stdout;
  expect(listed).toContain("package/dist/index.js");
  // What is unreleased is empty now.
  expect(release("patch").stderr).toContain("nothing under Unreleased");
}, 300_000);
