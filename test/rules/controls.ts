// Finds the rules without a negative control: checks of the sources that no text is known to break.
import { join } from "node:path";
import { literalOf, nameOf } from "./names.ts";
import { declaredBy } from "./skipped.ts";
import type { Node, Source } from "./syntax.ts";
import { parse, walk } from "./syntax.ts";

/** What gives the sources to a check: the list, and the syntax trees of the compiler. */
const listing = /\/(?:architecture\/sources|scripts\/syntax-trees)\.ts$/;
/** What a test file may use besides rules: it checks nothing. */
const plumbing = /\/(?:architecture\/(?:sources|rooms)|rules\/(?:rule|names|syntax))\.ts$/;

interface TestFile {
  readonly path: string;
  /** By its name in the file: what it is imported from, as `path#name`. */
  readonly imported: ReadonlyMap<string, string>;
  /** What a function or a constant of the file refers to, by its name. */
  readonly refersTo: ReadonlyMap<string, ReadonlySet<string>>;
  readonly functions: ReadonlySet<string>;
  /** The names that examples are given to, directly or through others. */
  readonly controlled: ReadonlySet<string>;
  /** The tests that are no tables. */
  readonly plain: readonly { readonly title: string; readonly names: ReadonlySet<string> }[];
}

/** The tests that check the sources by nothing that an example is given to, as `path: title`. */
export function uncontrolledTests(files: readonly Source[]): string[] {
  return files.filter(isTest).flatMap((source) => {
    const file = readTest(source);
    return file.plain
      .filter(({ names }) =>
        [...names].some((name) => listing.test(`/${file.imported.get(name) ?? ""}`.split("#")[0] ?? "")),
      )
      .filter(({ names }) => ![...names].some((name) => isChecker(file, name) && file.controlled.has(name)))
      .map(({ title }) => `${file.path}: ${title}`);
  });
}

/** The exported functions of the rules that are given no example, as `path#name`: none that another rule builds on. */
export function uncontrolledRules(files: readonly Source[]): string[] {
  const tests = files.filter(isTest).map(readTest);
  const controlled = new Set(
    tests.flatMap(({ imported, controlled }) => [...controlled].map((name) => imported.get(name))),
  );
  const modules = files.filter((source) => !isTest(source) && !plumbing.test(`/${source.path}`));
  const builtOn = new Set(modules.flatMap((source) => [...importedBy(source.path, parse(source.text)).values()]));
  return modules.flatMap(exportedFunctions).filter((name) => !controlled.has(name) && !builtOn.has(name));
}

/** The ways of a test file to a list of its own, which may lack what the common one has, as `path: function`. */
export function ownLists(files: readonly Source[]): string[] {
  const found = files.filter(isTest).flatMap(({ path, text }) => {
    const names: string[] = [];
    walk(parse(text), (node) => {
      const name = node.type === "ImportSpecifier" ? (nameOf(node["imported"]) ?? "") : "";
      if (/^(?:readdir|readdirSync|glob|globSync|opendir|opendirSync)$/.test(name)) names.push(`${path}: ${name}`);
    });
    return names;
  });
  return [...new Set(found)];
}

function isTest({ path }: Source): boolean {
  return /\.test\.[cm]?ts$/.test(path);
}

/** A function of the file itself, or of a module of the rules. */
function isChecker({ imported, functions }: TestFile, name: string): boolean {
  const from = imported.get(name);
  if (from === undefined) return functions.has(name);
  return /^test\/(?:rules|architecture|ledger|support)\//.test(from) && !plumbing.test(`/${from.split("#")[0]}`);
}

function readTest({ path, text }: Source): TestFile {
  const tree = parse(text);
  const imported = importedBy(path, tree);
  const refersTo = new Map<string, Set<string>>();
  const functions = new Set<string>();
  const calls: Node[] = [];
  for (const statement of tree["body"] as Node[]) {
    const declared =
      statement.type === "ExportNamedDeclaration" ? (statement["declaration"] as Node | null) : statement;
    if (declared?.type === "FunctionDeclaration") {
      functions.add(nameOf(declared["id"]) ?? "");
      refersTo.set(nameOf(declared["id"]) ?? "", namesIn(declared));
    }
    for (const { id, init } of (declared?.["declarations"] ?? []) as { id: Node; init: Node | null }[]) {
      if (init?.type === "ArrowFunctionExpression") functions.add(nameOf(id) ?? "");
      for (const name of namesIn(id)) refersTo.set(name, init === null ? new Set() : namesIn(init));
    }
  }
  walk(tree, (node) => {
    if (node.type === "CallExpression") calls.push(node);
  });
  const all = (node: Node): Set<string> => closure(namesIn(node), refersTo);
  const isPlain = ({ callee }: Node): boolean => (callee as Node).type === "Identifier";
  const controls = calls.filter((call) => (isPlain(call) ? nameOf(call["callee"]) === "declareRule" : isTable(call)));
  const plain = calls.filter((call) => isPlain(call) && declaredBy(call) === "test");
  return {
    path,
    imported,
    refersTo,
    functions,
    controlled: new Set(controls.flatMap((call) => [...all(call)])),
    plain: plain.map((call) => ({ title: titleOf(text, call), names: all(call) })),
  };
}

/** `test.each(rows)(title, run)` that expects more of the rows than that nothing is found. */
function isTable(call: Node): boolean {
  if ((call["callee"] as Node).type !== "CallExpression" || declaredBy(call) !== "test") return false;
  let expects = false;
  walk(call, ({ type, callee, arguments: given }) => {
    if (type !== "CallExpression" || !/^to[A-Z]/.test(nameOf((callee as Node)["property"]) ?? "")) return;
    const [first] = given as Node[];
    const isNothing = first?.type === "ArrayExpression" && (first["elements"] as unknown[]).length === 0;
    const isNegated = nameOf(((callee as Node)["object"] as Node)["property"]) === "not";
    expects ||= !isNothing || isNegated;
  });
  return expects;
}

function titleOf(text: string, call: Node): string {
  const [title] = call["arguments"] as Node[];
  return literalOf(title) ?? (title === undefined ? "" : text.slice(title.start, title.end));
}

function namesIn(node: Node): Set<string> {
  const names = new Set<string>();
  walk(node, ({ type, name }) => {
    if (type === "Identifier") names.add(String(name));
  });
  return names;
}

/** The names, and all that what they are called refers to. */
function closure(names: ReadonlySet<string>, refersTo: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const all = new Set(names);
  for (const name of all) for (const next of refersTo.get(name) ?? []) all.add(next);
  return all;
}

/** The values that a file imports from others of ours, by their names there. */
function importedBy(path: string, tree: Node): Map<string, string> {
  const imported = new Map<string, string>();
  for (const statement of tree["body"] as Node[]) {
    const from = literalOf(statement["source"]);
    if (statement.type !== "ImportDeclaration" || statement["importKind"] === "type" || !from?.startsWith("."))
      continue;
    for (const { local, imported: original } of statement["specifiers"] as { local: Node; imported?: Node }[])
      imported.set(nameOf(local) ?? "", `${join(path, "..", from)}#${nameOf(original) ?? "*"}`);
  }
  return imported;
}

function exportedFunctions({ path, text }: Source): string[] {
  return (parse(text)["body"] as Node[]).flatMap((statement) => {
    const declared = statement.type === "ExportNamedDeclaration" ? (statement["declaration"] as Node | null) : null;
    return declared?.type === "FunctionDeclaration" ? [`${path}#${nameOf(declared["id"])}`] : [];
  });
}
