// Says which stored collection an expression is: by where it was opened, or by the parameter that it came in.
import * as ast from "typescript/unstable/ast";
import type { Node } from "typescript/unstable/ast";
import { SymbolFlags } from "typescript/unstable/sync";
import type { Checker, Symbol } from "typescript/unstable/sync";
import { walk } from "../../../scripts/syntax-trees.ts";

/** What an expression can be: a key of `collections`, what a function was given, or what cannot be known. */
export type Origin =
  | { readonly key: string }
  | { readonly parameter: ast.ParameterDeclaration }
  | { readonly unknown: string };

/** Every collection that an expression can be. */
export function originsOf(checker: Checker, node: Node, depth = 0): Origin[] {
  const again = (next: Node): Origin[] => originsOf(checker, next, depth + 1);
  if (depth > 20) return [unknown(node)];
  if (ast.isParenthesizedExpression(node) || ast.isAsExpression(node) || ast.isNonNullExpression(node))
    return again(node.expression);
  if (ast.isConditionalExpression(node)) return [...again(node.whenTrue), ...again(node.whenFalse)];
  if (ast.isBinaryExpression(node)) {
    // A memory of what was opened: what it remembers was opened on the other side.
    const sides = [...again(node.left), ...again(node.right)];
    const known = sides.filter((side) => !("unknown" in side));
    return known.length > 0 && node.operatorToken.kind === ast.SyntaxKind.QuestionQuestionToken ? known : sides;
  }
  if (ast.isCallExpression(node)) return openedBy(checker, node, again);
  if (!ast.isIdentifier(node) && !ast.isPropertyAccessExpression(node)) return [unknown(node)];
  return declared(checker, checker.getSymbolAtLocation(node), node, again);
}

function openedBy(checker: Checker, call: ast.CallExpression, again: (node: Node) => Origin[]): Origin[] {
  const [name] = call.arguments;
  const { expression } = call;
  if (ast.isPropertyAccessExpression(expression) && expression.name.text === "collection" && name !== undefined)
    return [isKey(name) ? { key: name.name.text } : unknown(name)];
  if (!ast.isIdentifier(expression)) return [unknown(call)];
  const made = declarationOf(checker, checker.getSymbolAtLocation(expression));
  if (made === undefined || !ast.isFunctionDeclaration(made)) return [unknown(call)];
  const returned: Node[] = [];
  walk(made, (node) => {
    if (ast.isReturnStatement(node) && node.expression !== undefined) returned.push(node.expression);
  });
  return returned.flatMap(again);
}

function declared(checker: Checker, symbol: Symbol | undefined, node: Node, again: (node: Node) => Origin[]): Origin[] {
  const declaration = declarationOf(checker, symbol);
  if (declaration === undefined) return [unknown(node)];
  if (ast.isVariableDeclaration(declaration) && declaration.initializer !== undefined)
    return again(declaration.initializer);
  if (ast.isPropertyAssignment(declaration)) return again(declaration.initializer);
  if (ast.isParameterDeclaration(declaration)) return [{ parameter: declaration }];
  if (!ast.isBindingElement(declaration)) return [unknown(node)];
  const pattern = checker.getTypeAtLocation(declaration.parent);
  const name = declaration.propertyName ?? declaration.name;
  if (pattern === undefined || name === undefined || !ast.isIdentifier(name)) return [unknown(node)];
  const property = checker.getPropertyOfType(pattern, name.text);
  return declared(checker, property, node, again);
}

/** Where a symbol is declared, by way of its imports. */
export function declarationOf(checker: Checker, symbol: Symbol | undefined): Node | undefined {
  const own =
    symbol !== undefined && (symbol.flags & SymbolFlags.Alias) !== 0 ? checker.getAliasedSymbol(symbol) : symbol;
  return (own?.valueDeclaration ?? own?.declarations[0])?.resolve();
}

/** Whether an expression is a member of `collections`. */
export function isKey(node: Node): node is ast.PropertyAccessExpression {
  return ast.isPropertyAccessExpression(node) && node.expression.getText() === "collections";
}

/** The function that has a parameter, and the name by which it is called; undefined where it has none. */
export function ownerOf({ parent }: ast.ParameterDeclaration): {
  readonly node: Node;
  readonly name: string | undefined;
} {
  const named = ast.isFunctionDeclaration(parent) ? parent : parent.parent;
  const name = (named as { readonly name?: Node }).name;
  return { node: parent, name: name !== undefined && ast.isIdentifier(name) ? name.text : undefined };
}

function unknown(node: Node): Origin {
  return { unknown: node.getText().slice(0, 60) };
}
