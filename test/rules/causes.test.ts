// Every 503 of our own says why, for the log: an error as its cause, or a word.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const source = join(import.meta.dirname, "../../src");
const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter(
  (name) => name.endsWith(".ts") && !name.startsWith("gen/"),
);

/** The failures of a text that name neither a cause nor a word. */
function unexplained(text: string): string[] {
  return [
    ...text.matchAll(
      /\b(?:fail|new Failure)\((?:Reason\.(?:UNAVAILABLE|DEADLINE_EXCEEDED)|deadline\.reason)\b[^]*?\)[;,)]*$/gm,
    ),
  ]
    .map(([call]) => call)
    .filter((call) => !/\b(cause|because|tooLate)\b/.test(call));
}

test("a request that the service fails by itself has a cause for its line [OPS-26]", () => {
  expect(
    files.flatMap((name) => unexplained(readFileSync(join(source, name), "utf8")).map((call) => `${name}: ${call}`)),
  ).toEqual([]);
  expect(files.filter((name) => /\bbecause: "/.test(readFileSync(join(source, name), "utf8"))).length).toBeGreaterThan(
    5,
  );
});

test("a failure without a cause is seen", () => {
  expect(unexplained("return fail(Reason.UNAVAILABLE);")).toHaveLength(1);
  expect(unexplained('fail(Reason.UNAVAILABLE, { because: "overload" });')).toEqual([]);
});
