// The check for regular expressions that are not linear, on expressions with a known result.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { slownessOf } from "../../scripts/backtracking.ts";
import { isLinear } from "../../scripts/linear.ts";

test.each([
  ["separators with blanks around them", /\s*,\s*/],
  ["a weight after blanks", /\s*;\s*q=/],
  ["a weight with overlapping digits", /(^|,)\s*(x-)?gzip\s*(;\s*q=(1(\.0*)?|0\.\d*[1-9]\d*)\s*)?(,|$)/i],
  ["a quotation up to the end", /duplicate object key "(.*)"$/s],
  ["a run at the end", /x*$/],
  ["blanks at the end", /\s+$/],
  ["a run before a character", /a*b/],
  ["two runs of the same", /^[^\s@]+@[^\s@]+\.[^\s@]+$/],
  ["a run of runs", /^(a+)+$/],
  ["alternatives that overlap", /^(?:a|a)*$/],
  ["a run before the end of a look-ahead", /\B(?=(\d{3})+$)/g],
  ["a lazy run between the same two texts", /<b>[\s\S]*?<i>/],
  ["a run of a class with the flag v", { source: "[\\p{L}--[a-z]]+x", flags: "v" }],
])("%s is not linear [LIN-01]", (_name, { source, flags }) => {
  expect(slownessOf({ source, flags })).toBeTypeOf("string");
});

test.each([
  ["an anchored run", /^[!-~]+$/],
  ["a run that stops at its own beginning", /\[([^[\]]*)\]/g],
  ["a run behind a look-behind that excludes it", /(?<!\/)\/+$/],
  ["one class", /\p{Surrogate}/u],
  ["a number at a fixed position", /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y],
  ["a run of a class with the flag v", { source: "[\\p{L}--[a-z]]+", flags: "v" }],
])("%s is linear [LIN-01]", (_name, { source, flags }) => {
  expect(slownessOf({ source, flags })).toBeUndefined();
});

test("the step fails on an expression that is not linear or is built at run time, and names it [LIN-01]", () => {
  const said = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const check = (code: string): boolean => inProgram(code, (root) => isLinear(root, new Map()));
  expect([check("f(/^a*b/);"), check("f(/a*b/);"), check("f(new RegExp(text));")]).toEqual([true, false, false]);
  expect(said.mock.calls.flat()).toEqual([
    expect.stringMatching(/^src\/a\.ts:4: \/a\*b\/ is not linear: /),
    expect.stringMatching(/^src\/a\.ts:4: the text of new RegExp\(text\) is not in the code/),
  ]);
  said.mockRestore();
});

function inProgram<T>(code: string, check: (root: string) => T): T {
  const root = mkdtempSync(join(tmpdir(), "records-rules-"));
  try {
    mkdirSync(join(root, "src"));
    const options = {
      compilerOptions: { strict: true, target: "es2024", lib: ["es2024"], types: [] },
      include: ["src"],
    };
    for (const name of ["tsconfig.json", "tsconfig.page.json"])
      writeFileSync(join(root, name), JSON.stringify(options));
    const given = [
      "declare function f(...all: unknown[]): void;",
      "declare const text: string;",
      "declare const search: { search(text: string): void };",
    ];
    writeFileSync(join(root, "src/a.ts"), [...given, code, "export {};", ""].join("\n"));
    return check(root);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
