// The rules of biome.jsonc are in force: what breaks them is seen by `npm run check`.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "records-format-"));
copyFileSync(join(root, "biome.jsonc"), join(folder, "biome.jsonc"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Whether the check takes a file with this text. */
function passes(text: string): boolean {
  writeFileSync(join(folder, "file.ts"), text);
  const options = ["check", "--error-on-warnings", "--vcs-enabled=false", "file.ts"];
  return spawnSync(join(root, "node_modules/.bin/biome"), options, { cwd: folder }).status === 0;
}

test.each([
  ["formatted code", "export const one = 1;\n", true],
  ["a line that the formatter would break", `export const all = [${'"name", '.repeat(20)}];\n`, false],
  ["another style", "export const one = '1'\n", false],
  ["a comparison that converts", "export const same = (a: number, b: number): boolean => a == b;\n", false],
  ["any", "export const one: any = 1;\n", false],
  ["a test that is skipped", 'test.skip("rejects it", () => run());\n', false],
  ["a test that runs alone", 'test.only("rejects it", () => run());\n', false],
])("the check of %s passes: %s", (_what, text, expected) => {
  expect(passes(text)).toBe(expected);
});
