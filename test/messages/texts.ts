// Collects the texts of the program that people read: errors, log messages, output of the command line, pages.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Node } from "../rules/syntax.ts";
import { parse, walk } from "../rules/syntax.ts";

const root = join(import.meta.dirname, "../..");

/** Sources whose texts are not messages, each with what they are. */
const leftOut: readonly (readonly [path: string, what: string])[] = [
  ["src/gen/", "generated code"],
  ["client/src/schema.ts", "generated code"],
  ["gateway/plugin/writers.ts", "code that is generated from"],
  ["gateway/plugin/table.ts", "code that is generated from"],
  ["src/embedded/demo/", "records of the demo"],
  ["src/embedded/provider/style.ts", "a style sheet"],
  ["src/guards/shared-bucket.ts", "a script for Redis"],
  ["src/guards/reservations.ts", "a script for Redis"],
];

/** Elements of HTML within a sentence. All others begin a text of their own. */
const inline = /<\/?(?:a|b|bdi|code|em|strong|span)\b(?:[^>"]|"[^"]*")*>/g;

/** A part of the program, such as `src/cli`, with its texts in alphabetical order. */
export interface Part {
  readonly folder: string;
  readonly texts: readonly string[];
}

/** All texts, by the part of the program that they are in. */
export function allTexts(): Part[] {
  const byFolder = new Map<string, Set<string>>();
  for (const path of sources()) {
    const folder = path
      .split("/")
      .slice(0, path.startsWith("src/") ? 2 : 1)
      .join("/");
    const texts = byFolder.get(folder) ?? new Set();
    for (const text of textsIn(readFileSync(join(root, path), "utf8"))) texts.add(text);
    if (texts.size > 0) byFolder.set(folder, texts);
  }
  return [...byFolder]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([folder, texts]) => ({ folder, texts: [...texts].sort((a, b) => (a < b ? -1 : 1)) }));
}

/** The texts of a source, with `…` where the program fills something in. */
export function textsIn(code: string): string[] {
  const found: string[] = [];
  walk(parse(code), (node, parent) => {
    if (parent?.type === "ImportDeclaration" || parent?.type === "TSLiteralType") return;
    const text = textOf(node);
    if (text === undefined) return;
    const isHtml = parent?.type === "TaggedTemplateExpression" || /<\/[a-z]/.test(text);
    for (const one of isHtml ? textsOfHtml(text) : blocksOf(text))
      if (isProse(one) || (one.trim() !== "" && isLogged(node, parent))) found.push(oneLine(one));
  });
  return found;
}

/** Whether a text is the message of a log call: there even a single word is read. */
function isLogged(node: Node, parent: Node | undefined): boolean {
  const callee = parent?.type === "CallExpression" ? (parent["callee"] as Node) : undefined;
  if (callee?.type !== "MemberExpression" || (parent?.["arguments"] as Node[]).at(-1) !== node) return false;
  const { name, property } = callee["object"] as Node & { name?: string; property?: { name?: string } };
  return (name ?? property?.name) === "log";
}

function sources(): string[] {
  return ["client/src", "gateway", "src"]
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`),
    )
    .filter((path) => /\.[jt]s$/.test(path) && !leftOut.some(([start]) => path.startsWith(start)));
}

function textOf(node: Node): string | undefined {
  if (node.type === "Literal" && typeof node["value"] === "string") return node["value"];
  if (node.type !== "TemplateLiteral") return undefined;
  return (node["quasis"] as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join("…");
}

/** Paragraphs, items of a list, rows of a table, and terms with their explanation. */
function blocksOf(text: string): string[] {
  return text.split(/\n\s*\n|\n(?=[-|#] ?| *\d+[. ]| {2}\w)/).map((block) => block.replace(/^\s*(?:[-#]+|\d+\.) /, ""));
}

function textsOfHtml(html: string): string[] {
  const named = [...html.matchAll(/ (?:aria-label|placeholder|alt|content)="([^"]+)"/g)].map(([, text = ""]) => text);
  return [...named, ...html.replace(inline, "").split(/<(?:[^>"]|"[^"]*")*>/)].map((text) =>
    text.replaceAll("&nbsp;", " ").trim(),
  );
}

/** Whether a text has two words one after another; a name, a code or a path has one. */
function isProse(text: string): boolean {
  return /[\p{L}…][\p{Ll}’',;:)”"]* [(“"]?\p{L}{2}/u.test(text) && /\p{Ll}{2}/u.test(text);
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
