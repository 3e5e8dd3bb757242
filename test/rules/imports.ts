// The files that a source imports, read from its syntax tree: statically, dynamically, and as types.
import { join, relative } from "node:path";
import { literalOf, nameOf, pathOf } from "./names.ts";
import type { Node, Source } from "./syntax.ts";
import { parse, walk } from "./syntax.ts";

const importing = new Set([
  "ImportDeclaration",
  "ExportNamedDeclaration",
  "ExportAllDeclaration",
  "ImportExpression",
  "TSImportType",
]);

/** Several rules need the imports of the same sources. */
const known = new WeakMap<Source, string[]>();

/** The paths of our own files that a file imports, from the root of the repository. */
export function importsOf(source: Source): string[] {
  const imports = known.get(source) ?? readImports(source);
  known.set(source, imports);
  return imports;
}

function readImports({ path, text }: Source): string[] {
  const found: string[] = [];
  const add = (named: string): void => {
    if (named.startsWith(".")) found.push(relative("/", join("/", path, "..", named)));
    // Nobody imports by the place of the repository on a disk.
    else if (/^(?:\/|file:)/.test(named)) found.push("a computed path");
  };
  walk(parse(text), (node) => {
    const loaded = loadedBy(node);
    if (loaded !== undefined) add(loaded);
    if (!importing.has(node.type)) return;
    const source = (node["source"] ?? node["argument"]) as Node | null;
    const named = literalOf(source);
    if (named !== undefined) add(named);
    // An export of the file's own, or a path that is computed: nobody can say of that what it imports.
    else if (node.type === "ImportExpression") found.push("a computed path");
  });
  return found;
}

/** The path by which a call loads code: `require` and its like, `import.meta.resolve`, and a URL beside this file. */
function loadedBy(node: Node): string | undefined {
  if (node.type === "NewExpression") {
    const [first, base] = node["arguments"] as Node[];
    const isBeside = nameOf(node["callee"]) === "Worker" || pathOf(base) === "import.meta.url";
    const named = literalOf(first);
    return isBeside && named !== undefined && /\.[cm]?[jt]sx?$/.test(named) ? asRelative(named) : undefined;
  }
  if (node.type !== "CallExpression") return undefined;
  const callee = node["callee"] as Node;
  const isRequire = /^(?:require(?:\.resolve)?|import\.meta\.resolve)$/.test(pathOf(callee) ?? "") || isCreated(callee);
  return isRequire ? literalOf((node["arguments"] as Node[])[0]) : undefined;
}

/** `createRequire(…)`, and `createRequire(…).resolve`. */
function isCreated(callee: Node): boolean {
  const made = callee.type === "MemberExpression" ? (callee["object"] as Node) : callee;
  return made.type === "CallExpression" && /(?:^|\.)createRequire$/.test(pathOf(made["callee"]) ?? "");
}

/** As a URL beside the file is read: `store.ts` is in its folder. */
function asRelative(named: string): string {
  return /^(?:[./]|\w+:)/.test(named) ? named : `./${named}`;
}

const loaders = /(?:^|\.)(?:createRequire|getBuiltinModule|importScripts)$/;

/** Without one of these there is nothing to find. */
const mentioned = [
  ...["equire", "BuiltinModule", "importScripts", "meta", "module", "thread", "vm", "Worker", "eval", "Function"],
];

/** The uses of what loads code past the imports, which the table of rooms cannot see through. */
export function loadersIn({ path, text }: Source): string[] {
  const found: string[] = [];
  if (!mentioned.some((name) => text.includes(name))) return found;
  walk(parse(text), (node) => {
    const called = pathOf(node["callee"]) ?? "";
    if (node.type === "CallExpression" && loaders.test(called)) found.push(called);
    if (
      node.type === "ImportSpecifier" &&
      /^(?:createRequire|getBuiltinModule|Worker)$/.test(nameOf(node["imported"]) ?? "")
    )
      found.push(nameOf(node["imported"]) ?? "");
    if (
      node.type === "ImportDeclaration" &&
      /^(?:node:)?(?:module|worker_threads|vm)$/.test(literalOf(node["source"]) ?? "")
    )
      found.push(literalOf(node["source"]) ?? "");
    if (node.type === "MemberExpression" && /^(?:import\.meta\.resolve|.*\bgetBuiltinModule)$/.test(pathOf(node) ?? ""))
      found.push(pathOf(node) ?? "");
    if (
      node.type === "NewExpression" &&
      (isUrlBeside(node) || /(?:^|\.)(?:Worker|SharedWorker|Function)$/.test(called))
    )
      found.push(`new ${called}`);
    if (node.type === "CallExpression" && /^(?:require|eval|Function)$/.test(called)) found.push(called);
  });
  return [...new Set(found)].map((one) => `${path}: ${one}`);
}

function isUrlBeside(node: Node): boolean {
  return pathOf((node["arguments"] as Node[])[1]) === "import.meta.url";
}

/** What the script of a page imports that no browser gets with it: all but files of the same page. */
export function foreignToPage({ path, text }: Source): string[] {
  const page = /^.*?\/page\//.exec(path)?.[0] ?? "no page";
  const found: string[] = [];
  walk(parse(text), (node) => {
    if (!importing.has(node.type)) return;
    const source = (node["source"] ?? node["argument"]) as Node | null;
    if (source === null || source === undefined) return;
    const named = literalOf(source) ?? "a computed path";
    if (!named.startsWith(".") || !join(path, "..", named).startsWith(page)) found.push(`${path} → ${named}`);
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
