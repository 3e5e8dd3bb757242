// No code decides by the text of an error: the text is for people, and changes with the library.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { withTrees } from "../../scripts/syntax-trees.ts";
import { decisionsByText } from "./error-texts.ts";

const root = join(import.meta.dirname, "../..");

/** Exceptions, each with its reason. */
const allowed: ReadonlyMap<string, string> = new Map([
  ["src/db/redis-code.ts", "Redis's protocol has no other place for the code of an error"],
]);

test("no code decides by the text of an error [LIN-02]", () => {
  const found = withTrees(
    root,
    ["tsconfig.json", "tsconfig.page.json"],
    ["src/", "gateway/", "client/src/"],
    decisionsByText,
  );
  const paths = found.map((place) => place.split(":")[0] ?? "");
  expect(found.filter((_, at) => !allowed.has(paths[at] ?? ""))).toEqual([]);
  expect(paths).toEqual(expect.arrayContaining([...allowed.keys()]));
});

test.each([
  ['try { f(); } catch (error) { if ((error as Error).message.includes("x")) f(); }'],
  ["try { f(); } catch (error) { if (/x/.test((error as { message: string }).message)) f(); }"],
  ["try { f(); } catch (error) { const [, one] = /x(.)/.exec(String(error)) ?? []; f(one); }"],
  [
    'try { f(); } catch (error) { const message = error instanceof Error ? error.message : ""; f(message.split("x")[0]); }',
  ],
  [
    "try { f(); } catch (error) { if (/x/.test(textOf(error))) f(); } function textOf(error: unknown) { return error instanceof Error ? error.message : String(error); }",
  ],
  ['try { f(); } catch (error) { const { message } = error as Error; if (message === "x") f(); }'],
  ['declare const error: TypeError | undefined; if (error?.message.trim().startsWith("x")) f();'],
  ['declare const error: Error; switch (error.message) { case "x": f(); }'],
  ["declare const error: RangeError; if (`${error}`.match(/x/)) f();"],
  ["declare const error: Error; if (known.has(error.message)) f();"],
])("finds a decision by the text of an error: %s [LIN-02]", (code) => {
  expect(decisionsIn(code)).toHaveLength(1);
});

test.each([
  ["try { f(); } catch (error) { f(`it failed: ${(error as Error).message}`); }"],
  ['try { f(); } catch (error) { if ((error as { code?: string }).code === "x") f(); }'],
  ["try { f(); } catch (error) { f((error as Error).message.slice(0, 300)); }"],
  ['declare const response: { message: string }; if (response.message.includes("x")) f();'],
  ["declare const error: Error | undefined; if (error?.message !== undefined) f();"],
])("ignores code that only shows a text, or reads the text of something else: %s [LIN-02]", (code) => {
  expect(decisionsIn(code)).toEqual([]);
});

function decisionsIn(code: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), "records-rules-"));
  try {
    mkdirSync(join(folder, "src"));
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions: { strict: true, lib: ["es2023"], types: [] }, include: ["src"] }),
    );
    writeFileSync(
      join(folder, "src/a.ts"),
      `declare function f(...all: unknown[]): void;\ndeclare const known: Set<string>;\n${code}\nexport {};\n`,
    );
    return withTrees(folder, ["tsconfig.json"], ["src/"], decisionsByText);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
