// Finds objects of the driver that become something of another type: their members would no longer be seen.
import * as ast from "typescript/unstable/ast";
import type { Node } from "typescript/unstable/ast";
import { TypeFlags } from "typescript/unstable/sync";
import type { Tree } from "../../../scripts/syntax-trees.ts";
import { lineOf, lookUpAll, walk } from "../../../scripts/syntax-trees.ts";
import { classesIn, driverClass } from "./accesses.ts";
import type { Finding } from "./writes.ts";

/** Casts, and places whose type is none of the driver. */
export function escapes(trees: readonly Tree[]): Finding[] {
  return trees.flatMap((tree) => [...castAway(tree), ...givenAway(tree)]);
}

function castAway({ path, file, checker }: Tree): Finding[] {
  const found: Finding[] = [];
  walk(file, (node) => {
    if (!ast.isAsExpression(node) || ast.isAsExpression(node.expression)) return;
    const of = driverClass(checker, node.expression);
    let whole: Node = node;
    while (ast.isAsExpression(whole.parent) || ast.isParenthesizedExpression(whole.parent)) whole = whole.parent;
    if (of === undefined || driverClass(checker, whole) !== undefined) return;
    // `never` has no members, and fits wherever the type of a document is in the way.
    if (ast.isAsExpression(whole) && whole.type.getText() === "never") return;
    found.push({ path, line: lineOf(file, node), problem: `casts a ${of} away` });
  });
  return found;
}

/** What `src/db` reads: it has the database and a name, and the members of the database are seen. */
const readable = "ReadCollection";

function givenAway({ path, file, checker }: Tree): Finding[] {
  const values: ast.Expression[] = [];
  walk(file, (node) => {
    if (ast.isIdentifier(node) || ast.isPropertyAccessExpression(node) || ast.isCallExpression(node))
      if (isGiven(node)) values.push(node);
  });
  const types = lookUpAll(values, (nodes) => checker.getTypeAtLocation(nodes));
  return values.flatMap((value): Finding[] => {
    const [of] = classesIn(checker, types.get(value));
    const place = of === undefined ? undefined : checker.getContextualType(value);
    if (of !== undefined && isReflected(value))
      return [{ path, line: lineOf(file, value), problem: `reflects on a ${of}` }];
    if (of === undefined || place === undefined || classesIn(checker, place).length > 0) return [];
    if (checker.getNonNullableType(place)?.getSymbol()?.name === readable) return [];
    // A list that is taken apart at once expects nothing.
    if ((place.flags & TypeFlags.Any) !== 0 && ast.isArrayLiteralExpression(value.parent)) return [];
    return [{ path, line: lineOf(file, value), problem: `gives a ${of} away as ${checker.typeToString(place)}` }];
  });
}

/** Whether the language's own functions get it, which find members by their names. */
function isReflected({ parent }: ast.Expression): boolean {
  return ast.isCallExpression(parent) && /^(?:Reflect|Object)\b/.test(parent.expression.getText());
}

/** Whether a value goes where a type is expected: an argument, a result, or a name or a member with a type. */
function isGiven(node: ast.Expression): boolean {
  const { parent } = node;
  if (ast.isCallExpression(parent) || ast.isNewExpression(parent)) return parent.expression !== node;
  if (ast.isVariableDeclaration(parent)) return parent.initializer === node && parent.type !== undefined;
  if (ast.isPropertyAssignment(parent)) return parent.initializer === node;
  if (ast.isArrowFunction(parent)) return parent.body === node;
  if (ast.isBinaryExpression(parent)) return parent.right === node;
  return (
    ast.isReturnStatement(parent) || ast.isShorthandPropertyAssignment(parent) || ast.isArrayLiteralExpression(parent)
  );
}
