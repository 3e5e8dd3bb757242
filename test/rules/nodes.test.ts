// The supported versions of Node: one list, and how each of them is found or fetched.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { nodeProgram, supportedNodes } from "../../scripts/node-programs.ts";
import { parseDockerfile } from "../deploy/dockerfile.ts";

const root = join(import.meta.dirname, "../..");
let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "records-nodes-"))));
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

/** A program that only prints this. */
function program(path: string, script: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}

/** An npm of our own, in place of the real one. */
function stubNpm(script: string): void {
  program(join(folder, "bin", "npm"), script);
  vi.stubEnv("PATH", `${join(folder, "bin")}${delimiter}${process.env["PATH"] ?? ""}`);
}

const fetched = (name: string): string => join(folder, "nodes", name, "node_modules/node/bin/node");

test("the oldest supported Node is the one that the packages require, and the image runs another supported one", () => {
  expect(supportedNodes).toEqual(["20.19", "22", "24", "26"]);
  for (const manifest of ["package.json", "client/package.json"])
    expect(JSON.parse(readFileSync(join(root, manifest), "utf8")).engines).toEqual({ node: ">=20.19" });
  const stages = parseDockerfile(readFileSync(join(root, "Dockerfile"), "utf8"));
  expect(stages.map(({ image }) => image)).toEqual(["node:24-bookworm-slim", "node:24-bookworm-slim"]);
});

test("uses a Node that was fetched before without npm", () => {
  stubNpm("exit 1");
  program(fetched("22"), "echo v22.1.2");
  expect(nodeProgram("22", folder, () => undefined)).toEqual({ version: "v22.1.2", path: fetched("22") });
});

test("fetches a missing Node with npm, and says so", () => {
  stubNpm(
    `for folder; do [ "$before" = --prefix ] && break; before=$folder; done; mkdir -p "$folder/node_modules/node/bin"
printf '#!/bin/sh\\necho v26.0.1\\n' > "$folder/node_modules/node/bin/node"; chmod +x "$folder/node_modules/node/bin/node"`,
  );
  const said: string[] = [];
  expect(nodeProgram("26", folder, (line) => said.push(line))).toEqual({ version: "v26.0.1", path: fetched("26") });
  expect(said).toEqual([expect.stringContaining('Fetching Node 26 from the npm package "node"')]);
});

test.each([
  [
    "npm cannot reach its registry",
    "echo 'npm error network' >&2; exit 1",
    /npm cannot install node@24: npm error network/,
  ],
  ["npm skips the install script", "exit 0", /npm installed node@24 without its program/],
])("when %s, the error says so, and nothing is left behind", (_, script, message) => {
  stubNpm(script);
  expect(() => nodeProgram("24", folder, () => undefined)).toThrow(message);
  program(fetched("24"), "echo v24.0.0");
  expect(nodeProgram("24", folder, () => undefined).version).toBe("v24.0.0");
});

test("rejects a program of another version", () => {
  program(fetched("22"), "echo v24.0.0");
  expect(() => nodeProgram("22", folder, () => undefined)).toThrow(/is v24\.0\.0, not Node 22/);
});
