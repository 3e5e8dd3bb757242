// Decides who may touch MongoDB: which members of the driver a file uses, on whose collection, and with what options.
import * as ast from "typescript/unstable/ast";
import type { Node } from "typescript/unstable/ast";
import type { Tree } from "../../../scripts/syntax-trees.ts";
import { lineOf, walk } from "../../../scripts/syntax-trees.ts";
import type { Access } from "./accesses.ts";
import { accessesIn } from "./accesses.ts";
import { problemOfOptions } from "./options.ts";
import { declarationOf, isKey, originsOf, ownerOf } from "./origins.ts";
import { openers, owners, reach } from "./tables.ts";

/** What a rule found. */
export interface Finding {
  readonly path: string;
  readonly line: number;
  readonly problem: string;
}

/** What uses of the driver say about the code. */
export interface Uses {
  readonly findings: readonly Finding[];
  /** The keys of `collections` that are written. */
  readonly written: ReadonlySet<string>;
  /** Functions of `src/db` that write to a collection which they are given. */
  readonly writingHelpers: ReadonlySet<string>;
  /** The uses that the table allows, as `path: member`. */
  readonly allowed: ReadonlySet<string>;
  /** The files that open a collection by what is no member of `collections`. */
  readonly opened: ReadonlySet<string>;
}

const writing =
  /^Collection\.(?:insert(?:One|Many)|update(?:One|Many)|replaceOne|delete(?:One|Many)|findOneAnd\w+|bulkWrite)$/;
/** Within a transaction, which has what it needs of a lease. */
const reading = /^Collection\.(?:find|findOne)$/;
/** These name things and open things, and end a connection. */
const harmless = new Set([
  ...["Collection.collectionName", "Collection.db", "Collection.readConcern", "Collection.namespace"],
  ...["Db.client", "Db.databaseName", "Db.collection", "ClientSession.id", "ClientSession.inTransaction"],
  ...["ClientSession.hasEnded", "ClientSession.operationTime"],
  ...["MongoClient.close", "MongoClient.connect", "MongoClient.db", "MongoClient.options"],
]);

/** Every use of the driver in the files, checked. */
export function usesIn(trees: readonly Tree[]): Uses {
  const findings: Finding[] = [];
  const allowed = new Set<string>();
  const opened = new Set<string>();
  const writes: Access[] = [];
  const note = ({ tree, node }: Pick<Access, "tree" | "node">, problem: string): void =>
    void findings.push({ path: tree.path, line: lineOf(tree.file, node), problem });

  for (const access of trees.flatMap(accessesIn)) {
    const { tree, of, call } = access;
    const [name] = call?.arguments ?? [];
    if (of === "Db.collection" && (name === undefined || !isKey(name))) {
      opened.add(tree.path);
      if (name === undefined) note(access, "uses Db.collection without calling it");
      else if (openers[tree.path] === undefined) note(access, `opens a collection by ${name.getText()}`);
    } else if (harmless.has(of)) continue;
    else if (reach[tree.path]?.members.includes(of) === true) allowed.add(`${tree.path}: ${of}`);
    else if ((writing.test(of) || reading.test(of)) && call !== undefined) {
      const problem = problemOfOptions(tree, call);
      if (problem !== undefined) note(access, `${of}: ${problem}`);
      if (writing.test(of)) writes.push(access);
    } else note(access, `uses ${of}`);
  }
  const flow = followWrites(trees, writes);
  return { ...flow, findings: [...findings, ...flow.findings], allowed, opened };
}

/** Follows each write to where its collection was opened: through parameters, to every call. */
function followWrites(trees: readonly Tree[], writes: readonly Access[]): Omit<Uses, "allowed" | "opened"> {
  const calls = createCallIndex(trees);
  const findings: Finding[] = [];
  const written = new Set<string>();
  const writingHelpers = new Set<string>();
  const seen = new Set<Node>();
  const queue: { readonly tree: Tree; readonly at: Node; readonly collection: Node }[] = [];
  const note = (tree: Tree, at: Node, problem: string): void =>
    void findings.push({ path: tree.path, line: lineOf(tree.file, at), problem });

  function giveTo(parameter: ast.ParameterDeclaration, tree: Tree): void {
    if (seen.has(parameter)) return;
    seen.add(parameter);
    const { node, name } = ownerOf(parameter);
    const position = (node as ast.FunctionDeclaration).parameters.indexOf(parameter);
    if (name !== undefined && tree.path.startsWith("src/db/") && isExported(node)) writingHelpers.add(name);
    const found = name === undefined ? [] : calls(name).filter((use) => isOf(node, use));
    if (found.length === 0) note(tree, parameter, `nothing says which collection ${parameter.name.getText()} is`);
    for (const use of found) {
      const given = use.call?.arguments[position];
      if (given === undefined) note(use.tree, use.at, `hands on ${String(name)}, which writes, without calling it`);
      else queue.push({ tree: use.tree, at: use.at, collection: given });
    }
  }

  for (const { tree, node, object } of writes) queue.push({ tree, at: node, collection: object as Node });
  for (const tree of trees) for (const parameter of mergingParameters(tree)) giveTo(parameter, tree);
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const { tree, at, collection } = next;
    for (const origin of originsOf(tree.checker, collection)) {
      if ("parameter" in origin) giveTo(origin.parameter, tree);
      else if ("unknown" in origin) {
        if (openers[tree.path] === undefined) note(tree, at, `writes to what cannot be known: ${origin.unknown}`);
      } else {
        written.add(origin.key);
        if (!isOwn(origin.key, tree.path)) note(tree, at, `writes ${origin.key}, which is not of its room`);
      }
    }
  }
  return { findings, written, writingHelpers };
}

function isOwn(key: string, path: string): boolean {
  return (owners as Readonly<Record<string, readonly string[]>>)[key]?.some((room) => path.startsWith(room)) === true;
}

/** The collections that functions with a stage that writes are given. */
function mergingParameters({ path, file, checker }: Tree): ast.ParameterDeclaration[] {
  if (!path.startsWith("src/db/")) return [];
  const found: ast.ParameterDeclaration[] = [];
  walk(file, (node) => {
    if (!ast.isPropertyAssignment(node) || !/^["'`]?\$(?:merge|out)\b/.test(node.name.getText(file))) return;
    for (let at: Node | undefined = node; at !== undefined; at = at.parent)
      if (ast.isFunctionDeclaration(at))
        for (const parameter of at.parameters)
          if (checker.getTypeAtLocation(parameter)?.getSymbol()?.name === "Collection") found.push(parameter);
  });
  return found;
}

interface Use {
  readonly tree: Tree;
  readonly at: Node;
  readonly call: ast.CallExpression | undefined;
}

/** The calls of functions by their names, under which they may be imported; a use that is no call counts as well. */
function createCallIndex(trees: readonly Tree[]): (name: string) => readonly Use[] {
  const uses = new Map<string, Use[]>();
  for (const tree of trees) {
    const aliases = new Map<string, string>();
    walk(tree.file, (node) => {
      if (ast.isImportSpecifier(node) && node.propertyName !== undefined)
        aliases.set(node.name.text, node.propertyName.text);
      if (!ast.isIdentifier(node) || isDeclared(node)) return;
      const name = aliases.get(node.text) ?? node.text;
      const whole = ast.isPropertyAccessExpression(node.parent) && node.parent.name === node ? node.parent : node;
      const called = ast.isCallExpression(whole.parent) && whole.parent.expression === whole ? whole.parent : undefined;
      const known = uses.get(name);
      if (known === undefined) uses.set(name, [{ tree, at: node, call: called }]);
      else known.push({ tree, at: node, call: called });
    });
  }
  return (name) => uses.get(name) ?? [];
}

/** Whether a use is one of this function, and not of another with its name. */
function isOf(made: Node, { tree: { checker }, at }: Use): boolean {
  const declaration = declarationOf(checker, checker.getSymbolAtLocation(at));
  return declaration === made || declaration === made.parent;
}

/** Whether a name is where it is declared, imported or exported, or names a type or a member. */
function isDeclared(node: ast.Identifier): boolean {
  const { parent } = node;
  if (ast.isImportSpecifier(parent) || ast.isExportSpecifier(parent) || ast.isTypeQueryNode(parent)) return true;
  if (ast.isTypeReferenceNode(parent) || ast.isPropertySignatureDeclaration(parent)) return true;
  return "name" in parent && parent.name === node && !ast.isPropertyAccessExpression(parent);
}

function isExported(node: Node): boolean {
  return /^export\b/.test(node.getText());
}
