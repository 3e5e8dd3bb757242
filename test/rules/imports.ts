// The files that a source imports, read from its syntax tree: statically, dynamically, and as types.
import { join, relative } from "node:path";
import { parseAst } from "rolldown/parseAst";

/** A node of a syntax tree. */
export interface Node {
  readonly type: string;
  readonly [member: string]: unknown;
}

const importing = new Set([
  "ImportDeclaration",
  "ExportNamedDeclaration",
  "ExportAllDeclaration",
  "ImportExpression",
  "TSImportType",
]);

/** The paths of our own files that a file imports, from the root of the repository. */
export function importsOf({ path, text }: { readonly path: string; readonly text: string }): string[] {
  const found: string[] = [];
  walk(parseAst(text, { lang: "ts" }) as unknown as Node, (node) => {
    if (!importing.has(node.type)) return;
    const source = (node["source"] ?? node["argument"]) as { readonly value?: unknown } | null;
    if (typeof source?.value !== "string") {
      // An export of the file's own, or a path that is computed: nobody can say of that what it imports.
      if (node.type === "ImportExpression") found.push("a computed path");
    } else if (source.value.startsWith(".")) found.push(relative("/", join("/", path, "..", source.value)));
  });
  return found;
}

/** Visits a node and everything in it. */
export function walk(node: Node, visit: (node: Node) => void): void {
  visit(node);
  for (const member of Object.values(node)) {
    for (const one of Array.isArray(member) ? (member as unknown[]) : [member]) {
      if (typeof one === "object" && one !== null && "type" in one) walk(one as Node, visit);
    }
  }
}

/** The circles among files, each as its path: a file that reaches itself by its imports. One for each such file. */
export function circles(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const found: string[][] = [];
  for (const start of imports.keys()) {
    const from = new Map<string, string>();
    const queue = [start];
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
      for (const next of imports.get(file) ?? []) {
        if (next === start) {
          const circle = [file];
          while (circle[0] !== start) circle.unshift(from.get(circle[0] ?? "") ?? start);
          found.push([...circle, start]);
          queue.length = 0;
          break;
        }
        if (!from.has(next)) {
          from.set(next, file);
          queue.push(next);
        }
      }
    }
  }
  return found;
}
