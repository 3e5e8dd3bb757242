// The guide's diagrams: drawn from their descriptions, for light and dark pages.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { drawDiagram } from "../../scripts/diagrams.ts";
import { readPage, root } from "./pages.ts";

const folder = join(root, "docs/diagrams");

test("every diagram is drawn from its description, and is on the page of concepts", () => {
  const names = readdirSync(folder).sort();
  expect(names).toEqual(["objects.svg", "objects.txt", "request.svg", "request.txt"]);
  for (const name of names.filter((one) => one.endsWith(".txt"))) {
    const drawn = name.replace(/\.txt$/, ".svg");
    expect(drawDiagram(readFileSync(join(folder, name), "utf8"))).toBe(readFileSync(join(folder, drawn), "utf8"));
    expect(readPage("docs/concepts.md").text).toContain(`](diagrams/${drawn})`);
  }
});

test("a diagram has its boxes and labels as text, a title for screen readers, and colors for dark pages", () => {
  const drawn = drawDiagram("title A & B\nbox one 1 1 One | first\nbox two 1 2 <Two> | second\nline one two then\n");
  expect(drawn).toContain('aria-label="A &amp; B"');
  for (const text of [">One<", ">first<", ">&lt;Two&gt;<", ">then<"]) expect(drawn).toContain(text);
  expect(drawn).toContain("@media (prefers-color-scheme: dark)");
});

test("rejects a description that cannot be parsed, or that names a missing box", () => {
  expect(() => drawDiagram("circle one")).toThrow("invalid line: circle one");
  expect(() => drawDiagram("box one 1 1 One | first\nline one two\n")).toThrow("unknown box: two");
});
