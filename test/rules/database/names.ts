// Finds collections that are named by a text, stages that write, and values of the driver outside `src/db`.
import * as ast from "typescript/unstable/ast";
import type { Node } from "typescript/unstable/ast";
import { collections } from "../../../src/db/collections.ts";
import type { Tree } from "../../../scripts/syntax-trees.ts";
import { isPlainText, lineOf, walk } from "../../../scripts/syntax-trees.ts";
import type { Finding } from "./writes.ts";

const names: ReadonlySet<string> = new Set(Object.values(collections));

/** Texts that are a collection's name, each as `path: text`; those of types name members, and cannot reach MongoDB. */
export function namedByText(trees: readonly Tree[]): Finding[] {
  return findingsIn(trees, (node) =>
    isPlainText(node) && names.has(node.text) && !ast.isLiteralTypeNode(node.parent)
      ? `names a collection by the text "${node.text}"`
      : undefined,
  );
}

/** Stages of a pipeline by which an aggregation writes. */
export function writingStages(trees: readonly Tree[]): Finding[] {
  return findingsIn(trees, (node) => {
    const text = isPlainText(node) || ast.isIdentifier(node) ? node.text : "";
    return text === "$merge" || text === "$out" ? `has the stage ${text}` : undefined;
  });
}

/** Values of the package that reach no database. */
const inert = new Set(["Binary", "Long", "MaxKey", "MinKey", "UUID"]);

/** What a file takes of the package `mongodb`, types and what reaches no database aside. */
export function driverValues(trees: readonly Tree[]): Finding[] {
  return findingsIn(trees, (node) => {
    if (!isPlainText(node) || !/^(?:mongodb|bson)(?:\/|$)/.test(node.text)) return undefined;
    const taken = valuesTaken(node.parent).filter((name) => !inert.has(name) && !/^Mongo\w*Error$/.test(name));
    return taken.length === 0 ? undefined : `takes ${taken.join(", ")} of ${node.text}`;
  });
}

function valuesTaken(statement: Node): string[] {
  if (ast.isImportDeclaration(statement)) {
    const { importClause: clause } = statement;
    if (clause === undefined) return [];
    if (clause.phaseModifier === ast.SyntaxKind.TypeKeyword) return [];
    const bindings = clause.namedBindings;
    if (clause.name !== undefined || bindings === undefined || !ast.isNamedImports(bindings)) return ["everything"];
    return valueNames(bindings.elements);
  }
  if (ast.isExportDeclaration(statement)) {
    if (statement.isTypeOnly) return [];
    const { exportClause: clause } = statement;
    return clause !== undefined && ast.isNamedExports(clause) ? valueNames(clause.elements) : ["everything"];
  }
  return ast.isCallExpression(statement) && isLoading(statement.expression) ? ["everything"] : [];
}

/** `import(…)`, `require(…)`, or what `createRequire(…)` returns. */
function isLoading(callee: Node): boolean {
  return callee.kind === ast.SyntaxKind.ImportKeyword || /require/i.test(callee.getText());
}

function valueNames(
  elements: readonly { readonly isTypeOnly: boolean; readonly propertyName?: Node | undefined; readonly name: Node }[],
): string[] {
  return elements
    .filter(({ isTypeOnly }) => !isTypeOnly)
    .map(({ propertyName, name }) => (propertyName ?? name).getText());
}

function findingsIn(trees: readonly Tree[], check: (node: Node) => string | undefined): Finding[] {
  return trees.flatMap(({ path, file }) => {
    const found: Finding[] = [];
    walk(file, (node) => {
      const problem = check(node);
      if (problem !== undefined) found.push({ path, line: lineOf(file, node), problem });
    });
    return found;
  });
}
