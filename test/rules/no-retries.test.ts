// A test that fails has failed: neither the settings of Vitest nor a test or drill runs anything again until it passes.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Node } from "./syntax.ts";
import { parse, walk } from "./syntax.ts";

const root = join(import.meta.dirname, "../..");
const retrying = ["retry", "retries", "repeats"];

/** The options and calls by which a runner repeats a test, in a source. */
function retriesIn(text: string): string[] {
  const found: string[] = [];
  walk(parse(text), (node) => {
    if (node.type !== "CallExpression") return;
    const name = [node["callee"] as Node].map(firstName)[0] ?? "";
    if (!["test", "describe", "holds", "defineConfig", "setConfig"].includes(name)) return;
    for (const argument of node["arguments"] as Node[]) {
      if (argument.type !== "ObjectExpression") continue;
      walk(argument, ({ type, key }) => {
        const option = (key as { name?: unknown } | undefined)?.name;
        if (type === "Property" && retrying.includes(String(option))) found.push(String(option));
      });
    }
  });
  return found;
}

function firstName(callee: Node): string {
  if (callee.type === "Identifier") return String(callee["name"]);
  if (callee.type === "MemberExpression" && (callee["property"] as { name?: unknown }).name === "setConfig")
    return "setConfig";
  const inner = callee["object"] ?? callee["callee"];
  return inner === undefined ? "" : firstName(inner as Node);
}

test("no test, no drill and no setting of the runner tries a failed test again", () => {
  const files = [
    "vitest.config.ts",
    "drills/mutation/vitest.config.mts",
    ...["test", "drills", "fixtures"].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".ts"))
        .map((name) => `${folder}/${name}`),
    ),
  ];
  expect(files.length).toBeGreaterThan(300);
  expect(files.filter((file) => retriesIn(readFileSync(join(root, file), "utf8")).length > 0)).toEqual([]);
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  expect([...Object.values(scripts), readFileSync(join(root, ".ci/run"), "utf8")].join("\n")).not.toMatch(/--retry/);
});

test.each([
  ["an option of a test", 'test("rejects it", { retry: 2 }, async () => undefined);'],
  ["an option of a table", 'test.each(rows)("rejects %s", { timeout: 1, retry: 2 }, async () => undefined);'],
  ["an option of a suite", 'describe("rejections", { repeats: 2 }, () => undefined);'],
  ["a setting of the runner", "export default defineConfig({ test: { retry: 1 } });"],
  ["a setting of one file", "vi.setConfig({ retry: 1 });"],
])("a retry is seen: %s", (_where, text) => {
  expect(retriesIn(text)).toHaveLength(1);
});
