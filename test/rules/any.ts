// Finds values that the checker knows nothing of: expressions of the type `any`, where nothing says at once what they
// are.
import * as ast from "typescript/unstable/ast";
import type { Node } from "typescript/unstable/ast";
import { TypeFlags } from "typescript/unstable/sync";
import type { Checker, Type } from "typescript/unstable/sync";
import type { Tree } from "../../scripts/syntax-trees.ts";
import { lineOf, lookUpAll, walk } from "../../scripts/syntax-trees.ts";

/** Functions that take anything, and return what they say. */
const taking =
  /^(?:String|Number|Boolean|BigInt|Symbol|Array\.isArray|ArrayBuffer\.isView|Buffer\.isBuffer|Number\.is\w+|JSON\.stringify|Object\.is)$/;
const comparing = new Set([
  ...[ast.SyntaxKind.EqualsEqualsEqualsToken, ast.SyntaxKind.ExclamationEqualsEqualsToken],
  ...[ast.SyntaxKind.InstanceOfKeyword],
]);
/** Operators whose result can be their operand. */
const passing = new Set([
  ...[ast.SyntaxKind.QuestionQuestionToken, ast.SyntaxKind.BarBarToken, ast.SyntaxKind.AmpersandAmpersandToken],
]);

/** A use of the type `any`, or an export under the name `default`. */
export interface Loose {
  readonly path: string;
  readonly line: number;
  readonly code: string;
}

/** All of them, by file. */
export function looseValues(trees: readonly Tree[]): Loose[] {
  return trees.flatMap(looseIn);
}

function looseIn({ path, file, checker }: Tree): Loose[] {
  const found: Loose[] = [];
  const note = (node: Node): void =>
    void found.push({ path, line: lineOf(file, node), code: node.getText(file).slice(0, 100) });
  const values: Node[] = [];
  walk(file, (node) => {
    if (isValue(node)) values.push(node);
    if (ast.isExportSpecifier(node) && node.name.text === "default") note(node);
  });
  const types = lookUpAll(values, (nodes) => checker.getTypeAtLocation(nodes));
  for (const [node, type] of types)
    if (isAny(type) ? !isSettled(checker, node) : isMadeOfAny(checker, node, type)) note(node);
  return found;
}

function isAny({ flags }: Type): boolean {
  return (flags & TypeFlags.Any) !== 0;
}

/** Expressions that have a type of their own: what only names, assigns or declares is none. */
function isValue(node: Node): boolean {
  if (ast.isCallExpression(node) || ast.isNewExpression(node) || ast.isPropertyAccessExpression(node)) return true;
  if (ast.isElementAccessExpression(node)) return true;
  if (!ast.isIdentifier(node)) return false;
  const { parent } = node as { readonly parent: Node & { readonly name?: Node; readonly propertyName?: Node } };
  if (ast.isShorthandPropertyAssignment(parent)) return true;
  if (parent.name === node || parent.propertyName === node) return false;
  return !ast.isTypeNode(parent) && !ast.isQualifiedName(parent) && !ast.isImportClause(parent);
}

/** Whether it is at once said what a value is, or nothing rests on it. */
function isSettled(checker: Checker, node: Node): boolean {
  const { parent } = node;
  if (ast.isAsExpression(parent) || ast.isTypeOfExpression(parent) || ast.isThrowStatement(parent)) return true;
  if (ast.isExpressionStatement(parent)) return true;
  if (ast.isAwaitExpression(parent) || ast.isParenthesizedExpression(parent) || ast.isNonNullExpression(parent))
    return isSettled(checker, parent);
  if (ast.isIfStatement(parent) || ast.isPrefixUnaryExpression(parent)) return true;
  if (ast.isConditionalExpression(parent)) return parent.condition === node || isSettled(checker, parent);
  if (ast.isBinaryExpression(parent)) {
    const kind = parent.operatorToken.kind;
    if (comparing.has(kind)) return true;
    if (passing.has(kind)) return isSettled(checker, parent);
    // What is written to is no value.
    if (kind === ast.SyntaxKind.EqualsToken && parent.left === node) return true;
  }
  // The operand of a further access is checked by its own parent: a member of `any` is never settled.
  if (ast.isCallExpression(parent) && taking.test(parent.expression.getText())) return true;
  return checker.getContextualType(node as ast.Expression) === checker.getUnknownType();
}

/** Whether a collection is made whose values are `any`, as by `new Map()` where no type is expected. */
function isMadeOfAny(checker: Checker, node: Node, type: Type): boolean {
  if (!ast.isNewExpression(node) || !type.isTypeReference()) return false;
  return checker.getTypeArguments(type).some(isAny) && checker.getContextualType(node) === undefined;
}
