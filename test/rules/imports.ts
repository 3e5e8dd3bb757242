// The files that a source imports, read from its syntax tree: statically, dynamically, and as types.
import { join, relative } from "node:path";
import type { Source } from "./syntax.ts";
import { parse, walk } from "./syntax.ts";

const importing = new Set([
  "ImportDeclaration",
  "ExportNamedDeclaration",
  "ExportAllDeclaration",
  "ImportExpression",
  "TSImportType",
]);

/** The paths of our own files that a file imports, from the root of the repository. */
export function importsOf({ path, text }: Source): string[] {
  const found: string[] = [];
  walk(parse(text), (node) => {
    if (!importing.has(node.type)) return;
    const source = (node["source"] ?? node["argument"]) as { readonly value?: unknown } | null;
    if (typeof source?.value !== "string") {
      // An export of the file's own, or a path that is computed: nobody can say of that what it imports.
      if (node.type === "ImportExpression") found.push("a computed path");
    } else if (source.value.startsWith(".")) found.push(relative("/", join("/", path, "..", source.value)));
  });
  return found;
}

/** The room of a file of the service: its folder, or the file itself where it lies beside the folders. */
function roomOf(path: string): string {
  return /^(?:src\/[^/]+|gateway\/plugin(?=\/)|gateway)/.exec(path)?.[0] ?? path;
}

/** The same imports among rooms: what a file imports of its own room is left out. */
export function roomImports(imports: ReadonlyMap<string, readonly string[]>): Map<string, readonly string[]> {
  const rooms = new Map<string, readonly string[]>();
  for (const [path, targets] of imports) {
    const own = roomOf(path);
    const others = targets.map(roomOf).filter((room) => room !== own);
    rooms.set(own, [...new Set([...(rooms.get(own) ?? []), ...others])]);
  }
  return rooms;
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
