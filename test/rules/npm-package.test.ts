// Packages that scripts fetch from npm: once, complete or not at all, with npm's own reason where it fails.
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { fetchPackage, packageFolder } from "../../scripts/npm-package.ts";

const wanted = { name: "@example/client", version: "1.2.3" };
let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "records-npm-package-"))));
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

/** An npm of our own, in place of the real one; its third argument is the folder to install into. */
function stubNpm(script: string): void {
  const bin = join(folder, "bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "npm"), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, "npm"), 0o755);
  vi.stubEnv("PATH", `${bin}${delimiter}${process.env["PATH"] ?? ""}`);
}

test("fetches a package without its install scripts, and only once", () => {
  stubNpm(`case "$*" in *--ignore-scripts*@example/client@1.2.3) mkdir -p "$3/node_modules/@example/client";; esac`);
  fetchPackage(wanted, folder);
  expect(packageFolder(wanted, folder)).toBe(join(folder, "npm/example-client-1.2.3/node_modules/@example/client"));
  expect(readdirSync(join(folder, "npm"))).toEqual(["example-client-1.2.3"]);
  stubNpm("exit 1");
  expect(() => fetchPackage(wanted, folder)).not.toThrow();
});

test("reports npm's reason when a package cannot be fetched, and leaves nothing behind", () => {
  stubNpm('printf "npm error code E404\\nnpm error Not found\\nnpm error A complete log of this run\\n" >&2; exit 1');
  expect(() => fetchPackage(wanted, folder)).toThrow("npm cannot install @example/client@1.2.3 (Not found)");
  expect(readdirSync(join(folder, "npm"))).toEqual([]);
});
