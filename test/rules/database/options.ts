// Says whether a command goes with what `src/db/write.ts` hands out: the options of a write, or a transaction's
// session.
import * as ast from "typescript/unstable/ast";
import type { Node } from "typescript/unstable/ast";
import type { Checker } from "typescript/unstable/sync";
import type { Tree } from "../../../scripts/syntax-trees.ts";
import { lineOf, lookUpAll, walk } from "../../../scripts/syntax-trees.ts";
import { declarationOf } from "./origins.ts";
import type { Finding } from "./writes.ts";

/** What is wrong with the options of a command; undefined where they were handed out. */
export function problemOfOptions({ checker }: Tree, call: ast.CallExpression): string | undefined {
  const last = call.arguments.at(-1);
  if (last === undefined || call.arguments.length < 2) return "goes without the options of a write";
  return isGranted(checker, last) ? undefined : `${last.getText().slice(0, 60)} is not what a write hands out`;
}

function isGranted(checker: Checker, node: Node): boolean {
  if (ast.isParenthesizedExpression(node)) return isGranted(checker, node.expression);
  if (!ast.isObjectLiteralExpression(node)) return typeName(checker, node) === "WriteOptions" && isGiven(checker, node);
  return node.properties.some((property) => {
    if (ast.isSpreadAssignment(property)) return isGranted(checker, property.expression);
    if (ast.isShorthandPropertyAssignment(property))
      return property.name.getText() === "session" && typeName(checker, property.name) === "ClientSession";
    return (
      ast.isPropertyAssignment(property) &&
      property.name.getText() === "session" &&
      typeName(checker, property.initializer) === "ClientSession"
    );
  });
}

/** The name of a type that is not a union with undefined. */
function typeName(checker: Checker, node: Node): string | undefined {
  return checker.getTypeAtLocation(node)?.getSymbol()?.name;
}

/** Whether a function was given it: what a file makes itself has no lease and no deadline. */
function isGiven(checker: Checker, node: Node): boolean {
  const declaration = declarationOf(checker, checker.getSymbolAtLocation(node));
  return declaration !== undefined && ast.isParameterDeclaration(declaration);
}

const members = new Set(["maxTimeMS", "session", "signal"]);

/** Options of a write that a file makes itself, instead of handing on what it was given. */
export function madeOptions(trees: readonly Tree[]): Finding[] {
  return trees.filter(({ path }) => path !== "src/db/write.ts").flatMap(madeOptionsIn);
}

function madeOptionsIn({ path, file, checker }: Tree): Finding[] {
  const found: Finding[] = [];
  const note = (node: Node, problem: string): void => void found.push({ path, line: lineOf(file, node), problem });
  const names: ast.Identifier[] = [];
  walk(file, (node) => {
    const problem = problemOf(checker, node);
    if (problem !== undefined) note(node, problem);
    if (ast.isIdentifier(node) && ast.isCallExpression(node.parent) && node.parent.expression !== node)
      names.push(node);
  });
  const types = lookUpAll(names, (nodes) => checker.getTypeAtLocation(nodes));
  for (const name of names) {
    const type = types.get(name);
    if (type?.getSymbol()?.name !== "__object") continue;
    if (!checker.getPropertiesOfType(type).every((member) => members.has(member.name))) continue;
    if (checker.getContextualType(name)?.getSymbol()?.name === "WriteOptions")
      note(name, `makes WriteOptions itself: ${name.text}`);
  }
  return found;
}

function problemOf(checker: Checker, node: Node): string | undefined {
  if ((ast.isVariableDeclaration(node) || ast.isAsExpression(node)) && node.type?.getText() === "WriteOptions")
    return "makes WriteOptions itself";
  if (!ast.isObjectLiteralExpression(node) || !node.properties.every((one) => members.has(nameOf(one))))
    return undefined;
  if (checker.getContextualType(node)?.getSymbol()?.name !== "WriteOptions") return undefined;
  return isGranted(checker, node) ? undefined : `makes WriteOptions itself: ${node.getText()}`;
}

function nameOf(property: ast.ObjectLiteralElementLike): string {
  return ast.isSpreadAssignment(property) ? "" : (property.name?.getText() ?? "");
}
