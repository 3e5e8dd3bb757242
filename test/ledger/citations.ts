// The clauses that the titles of a test file cite, read from its syntax tree: comments and other texts prove nothing.
import { nameOf } from "../rules/names.ts";
import { isLeftOut } from "../rules/skipped.ts";
import type { Node } from "../rules/syntax.ts";
import { parse, walk } from "../rules/syntax.ts";

/**
 * The ids, matched by `id`, in titles of tests and of suites, in the titles of cases, and in the clauses of a drill.
 * A test that does not run proves nothing, unless its file may leave tests out (`mayLeaveOut`).
 */
export function citationsOf(text: string, id: RegExp, mayLeaveOut = false): string[] {
  const titles: unknown[] = [];
  /** Up to here the walk is in a suite that does not run. */
  let leftOutUntil = 0;
  walk(parse(text), (node) => {
    if (node.start < leftOutUntil) return;
    if (node.type === "CallExpression") {
      const [first, second] = node["arguments"] as unknown[];
      const name = calledName(node["callee"] as Node);
      if (["test", "it", "describe", "suite"].includes(name)) {
        if (!mayLeaveOut && isLeftOut(node)) {
          leftOutUntil = node.end;
          return;
        }
        titles.push(first);
        if (/%s|\$\w/.test(textOf(first))) titles.push(...rowsOf(node["callee"] as Node));
      }
      if (name === "holds") titles.push(second);
    }
    if (node.type === "Property" && (node["key"] as { name?: unknown }).name === "title") titles.push(node["value"]);
  });
  return titles.flatMap((title) => [...textOf(title).matchAll(id)].map(([clause]) => clause));
}

/** The first name of what is called: `test` of `test(…)`, and of `test.each(…)(…)`. */
function calledName(callee: Node): string {
  if (callee.type === "Identifier") return String(callee["name"]);
  const inner = callee["object"] ?? callee["callee"] ?? callee["tag"];
  // The rows of a table are no titles.
  if (callee.type === "MemberExpression" && /^(?:each|for)$/.test(nameOf(callee["property"]) ?? "")) return "";
  return inner === undefined ? "" : calledName(skipEach(inner as Node));
}

/** The texts in the rows of `test.each(rows)`, which the title shows. */
function rowsOf({ type, arguments: given }: Node): unknown[] {
  if (type !== "CallExpression") return [];
  return itemsOf((given as unknown[])[0]).flatMap((row) => [row, ...itemsOf(row)].filter(isText));
}

/** The elements of an array, and the values of an object, as they are written. */
function itemsOf(node: unknown): unknown[] {
  const { elements, properties } = (node ?? {}) as { elements?: unknown[]; properties?: { value?: unknown }[] };
  return elements ?? properties?.map(({ value }) => value) ?? [];
}

function isText(node: unknown): boolean {
  return ["Literal", "TemplateLiteral"].includes((node as Node | null)?.type ?? "");
}

/** `test` of `test.each`, whose call declares the tests. */
function skipEach(node: Node): Node {
  return node.type === "MemberExpression" ? (node["object"] as Node) : node;
}

/** The texts within a title, which may be a template, a sum or a list. */
function textOf(title: unknown): string {
  const texts: string[] = [];
  if (typeof title !== "object" || title === null) return "";
  walk(title as Node, (node) => {
    if (typeof node["value"] === "string") texts.push(node["value"]);
    if (node.type === "TemplateElement") texts.push((node["value"] as { raw: string }).raw);
  });
  return texts.join(" ");
}
