// The names, comments and titles of a file: what the vocabulary is for.
import { literalOf } from "./names.ts";
import type { Node } from "./syntax.ts";
import { parse, walk } from "./syntax.ts";

/** A name, a comment, a title or a path, and where it is. */
export interface Text {
  readonly kind: "name" | "comment" | "title" | "path";
  readonly text: string;
  readonly line: number;
}

/** The names, comments and titles of a file, by its format. */
export function textsOf(path: string, text: string): Text[] {
  return /\.[cm]?[jt]sx?$/.test(path) ? textsOfProgram(text) : commentsOfLines(path, text);
}

/** Comments of formats that are read line by line: YAML, shell, Python, Go, protos, CSS, Dockerfiles. */
function commentsOfLines(path: string, text: string): Text[] {
  const found: Text[] = [];
  const lineAt = (at: number): number => text.slice(0, at).split("\n").length;
  const isOfSlashes = /\.(?:proto|css|go)$/.test(path);
  // A text is passed over, so that no comment begins in an address or in a pattern.
  const pattern = isOfSlashes
    ? /"(?:[^"\\\n]|\\.)*"|`[^`]*`|(\/\/.*|\/\*[^]*?\*\/)/g
    : /"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|(?:(?<=^|\n)[ \t]*|[ \t])(#.*)/g;
  for (const { 0: whole, 1: comment, index } of text.matchAll(pattern))
    if (comment !== undefined)
      found.push({ kind: "comment", text: whole, line: lineAt(index + whole.indexOf(comment)) });
  if (path.endsWith(".css"))
    for (const { 0: name, index } of text
      .replace(/\/\*[^]*?\*\//g, (one) => one.replace(/[^\n]/g, " "))
      .matchAll(/[.#-][a-z][\w-]*/gi))
      found.push({ kind: "name", text: name, line: lineAt(index) });
  return found;
}

const testing = new Set(["test", "it", "describe"]);

function textsOfProgram(text: string): Text[] {
  const lineAt = (at: number): number => text.slice(0, at).split("\n").length;
  const found: Text[] = [];
  const strings: Node[] = [];
  walk(parse(text), (node) => {
    for (const title of [titleOf(node), ...shownRows(node)])
      if (title?.type === "Literal" || title?.type === "TemplateLiteral")
        found.push({ kind: "title", text: text.slice(title.start, title.end), line: lineAt(title.start) });
    const key = node.type === "Property" ? (node["key"] as Node) : undefined;
    // A name that is written as a text. What HTTP, a proto or a database names so has its own separators.
    if (key?.type === "Literal" && typeof key["value"] === "string" && isOwnName(key["value"]))
      found.push({ kind: "name", text: key["value"], line: lineAt(key.start) });
    if (node.type === "TemplateElement" || (node.type === "Literal" && typeof node["value"] !== "number"))
      strings.push(node);
  });
  const code = blanked(text, strings).replace(/\/\/.*|\/\*[^]*?\*\//g, (comment, at: number) => {
    found.push({ kind: "comment", text: comment, line: lineAt(at) });
    return comment.replace(/[^\n]/g, " ");
  });
  for (const { 0: name, index } of code.matchAll(/[\p{L}_$][\p{L}\p{N}_$]*/gu))
    found.push({ kind: "name", text: name, line: lineAt(index) });
  return found;
}

/** The title of a call such as `test(…)`, or of a case that a test declares by its `title`. */
function titleOf(node: Node): Node | undefined {
  if (node.type === "CallExpression" && isTesting(node)) return (node["arguments"] as Node[])[0];
  const isTitle = node.type === "Property" && (node["key"] as Node)["name"] === "title";
  return isTitle ? (node["value"] as Node) : undefined;
}

/** The texts of the rows of a table that its title shows: the first ones of each row. */
function shownRows(call: Node): Node[] {
  if (call.type !== "CallExpression" || !isTesting(call)) return [];
  const callee = call["callee"] as Node;
  const title = literalOf((call["arguments"] as Node[])[0]) ?? "";
  const shown = title.match(/%[sojp]/g)?.length ?? 0;
  if (callee.type !== "CallExpression" || shown === 0) return [];
  const rows = ((callee["arguments"] as Node[])[0]?.["elements"] ?? []) as (Node | null)[];
  return rows.flatMap((row) => (row?.type === "ArrayExpression" ? (row["elements"] as Node[]).slice(0, shown) : []));
}

/** Whether a key can be a name of ours. */
function isOwnName(key: string): boolean {
  return /^[a-z][\w-]*$/i.test(key);
}

/** Whether a call begins with `test`, `it` or `describe`, as `test(…)`, `test.only(…)` and `test.each(…)(…)` do. */
function isTesting(call: Node): boolean {
  let callee = call["callee"] as Node | undefined;
  while (callee !== undefined && callee.type !== "Identifier")
    callee = (callee["callee"] ?? callee["object"] ?? callee["tag"]) as Node | undefined;
  return callee !== undefined && testing.has(callee["name"] as string);
}

/** The text with blanks in place of its strings and regular expressions. */
function blanked(text: string, nodes: readonly Node[]): string {
  const pieces: string[] = [];
  let at = 0;
  for (const { start, end } of [...nodes].sort((one, other) => one.start - other.start)) {
    pieces.push(text.slice(at, start), text.slice(start, end).replace(/[^\n]/g, " "));
    at = end;
  }
  return [...pieces, text.slice(at)].join("");
}
