// The list of sources is complete: no code is in the repository that no rule reads.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { allHandWritten, files, isHandWritten, otherCode } from "./sources.ts";

const root = join(import.meta.dirname, "../..");

/** The files that are code by their names or their first lines, and that neither the list nor an exception has. */
function unlisted(paths: readonly string[], firstLine: (path: string) => string): string[] {
  const isExcepted = (path: string): boolean => otherCode.some(([one]) => path.startsWith(one));
  return paths.filter((path) => {
    const isCode = /\.[cm]?[jt]sx?$/i.test(path) || /^#!.*\b(?:node|tsx|deno|bun)\b/.test(firstLine(path));
    return isCode && !isHandWritten(path) && !isExcepted(path);
  });
}

test("every file of code is in the list of sources, or has a reason not to be", () => {
  expect(unlisted(files, (path) => readFileSync(join(root, path), "utf8").split("\n", 1)[0] ?? "")).toEqual([]);
  expect(allHandWritten.length).toBeGreaterThan(1_000);
  for (const [path, why] of otherCode) {
    expect(why.length, path).toBeGreaterThan(10);
    expect(
      files.some((file) => file.startsWith(path)),
      path,
    ).toBe(true);
  }
});

test.each([
  ["a program without an extension", "bin/records", "#!/usr/bin/env node"],
  ["an extension in upper case", "src/one.TS", ""],
])("finds code that is not in the list: %s", (_what, path, first) => {
  expect(unlisted([path], () => first)).toEqual([path]);
});

test.each([["ts"], ["mts"], ["cts"], ["tsx"], ["js"], ["mjs"], ["cjs"], ["jsx"]])(
  "every rule, and Biome, reads files that end with .%s",
  (extension) => {
    expect(isHandWritten(`src/contacts/hidden.${extension}`)).toBe(true);
    expect(readFileSync(join(root, "biome.jsonc"), "utf8")).toContain(`"**/*.${extension}"`);
  },
);

test.each([["src/gen/rest.ts"], ["client/src/schema.ts"], ["README.md"], ["src/guide/page/guide.css"]])(
  "leaves out what is generated or not code: %s",
  (path) => {
    expect(isHandWritten(path)).toBe(false);
  },
);
