// Habits of every file: its first sentence, its length and that of its functions, and what none has.
import { expect, test } from "vitest";
import { longFunctions } from "../rules/functions.ts";
import type { Source } from "./sources.ts";
import { allHandWritten, handWritten } from "./sources.ts";

/** Fixtures that return bodies of every shape: the tests state what is in them. */
const ofEveryShape = ["fixtures/service/service.ts", "fixtures/sign-in/assistants.ts"];

test.each([
  ["any", /(?:: |<|\bas )any\b(?! \w)/],
  ["@ts-ignore", /@ts-(ignore|expect-error|nocheck)/],
  ["export default", /^export default/m],
  ["export *", /^export \*/m],
  ["TODO", /\b(TODO|FIXME|XXX)\b/],
])("no file has %s", (name, pattern) => {
  const having = handWritten.filter(({ text }) => pattern.test(text)).map(({ path }) => path);
  expect(having.sort()).toEqual(name === "any" ? ofEveryShape : []);
});

/** The files of more than 300 lines; the end of the last one begins no other. */
function longFiles(files: readonly Source[]): string[] {
  const linesOf = (text: string): number => text.replace(/\n$/, "").split("\n").length;
  return files.filter(({ text }) => linesOf(text) > 300).map(({ path, text }) => `${path} (${linesOf(text)} lines)`);
}

test("every file opens with one sentence on what it is for, and none has more than 300 lines", () => {
  for (const { path, text } of allHandWritten) expect(text, path).toMatch(/^(?:\/\/ |\/\*\*)\S[^]*?[.:]\n/);
  expect(longFiles(allHandWritten)).toEqual([]);
});

test("a file of 301 lines is found, whichever folder it is in", () => {
  const file = (lines: number): Source => ({ path: "test/long.test.ts", text: "// Long.\n".repeat(lines) });
  expect(longFiles([file(301)])).toEqual(["test/long.test.ts (301 lines)"]);
  expect(longFiles([file(300)])).toEqual([]);
  const folders = ["src", "gateway", "client", "examples", "fixtures", "drills", "bench", "evals", "scripts", "test"];
  expect(new Set(allHandWritten.map(({ path }) => path.split("/")[0]))).toEqual(new Set(folders));
});

test("no function in src and gateway is longer than 60 lines", () => {
  const served = handWritten.filter(({ path }) => /^(?:src|gateway)\//.test(path));
  expect(served.flatMap((file) => longFunctions(file, 60))).toEqual([]);
});

test.each([
  ["a function", "function long() {", "}"],
  ["a function within another", "function outer() { function long() {", "}}"],
  ["an arrow function", "const long = async () => {", "};"],
  ["a method of an object", "const store = { async long() {", "} };"],
  ["a method of a class", "class Store { long() {", "} }"],
])("a function of 61 lines is found: %s", (_what, head, foot) => {
  const text = (lines: number): string => [head, ...Array<string>(lines - 2).fill("  next();"), foot].join("\n");
  const found = longFunctions({ path: "src/store.ts", text: text(61) }, 60);
  expect(found).toContain("src/store.ts:1 long (61 lines)");
  expect(longFunctions({ path: "src/store.ts", text: text(60) }, 60)).toEqual([]);
});

/** Lines of comments that are too long: the formatter breaks code, and leaves comments as they are. */
function longComments(text: string): string[] {
  return text.split("\n").filter((line) => line.length > 120 && /^\s*(?:\/\/|\/\*\*|\* (?!\*\*))/.test(line));
}

test("no comment has a line of more than 120 columns", () => {
  expect(handWritten.flatMap(({ path, text }) => longComments(text).map((line) => `${path}: ${line}`))).toEqual([]);
  expect(longComments(`/** ${"a".repeat(120)} */`)).toHaveLength(1);
});

test("no folder is called utils, common or helpers", () => {
  expect(
    handWritten.filter(({ path }) => /\/(utils?|common|helpers?|lib)(\/|\.ts$)/.test(path)).map(({ path }) => path),
  ).toEqual([]);
});
