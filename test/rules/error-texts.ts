// Finds the places that decide something by the text of an error, in syntax trees.
import * as ast from "typescript/unstable/ast";
import type { Node } from "typescript/unstable/ast";
import type { Type } from "typescript/unstable/sync";
import type { Tree } from "../../scripts/syntax-trees.ts";
import { lineOf, walk } from "../../scripts/syntax-trees.ts";

/** String methods that search a text. Methods that cut or join a text only show it. */
const looking = new Set([
  "match",
  "matchAll",
  "search",
  "includes",
  "startsWith",
  "endsWith",
  "indexOf",
  "lastIndexOf",
  "split",
  "replace",
  "replaceAll",
  "localeCompare",
]);
/** Methods of an expression, a set, a map or a list that examine their argument. */
const lookedIntoBy = new Set(["test", "exec", "has", "get", "includes", "indexOf"]);
const comparing = new Set([
  ast.SyntaxKind.EqualsEqualsEqualsToken,
  ast.SyntaxKind.ExclamationEqualsEqualsToken,
  ast.SyntaxKind.EqualsEqualsToken,
  ast.SyntaxKind.ExclamationEqualsToken,
]);

/** Each as `path:line: code`. */
export function decisionsByText(trees: readonly Tree[]): string[] {
  return trees.flatMap(decisionsIn);
}

function decisionsIn({ path, file, checker }: Tree): string[] {
  const found: string[] = [];
  /** Names that hold such a text, with their block or file. */
  const holders: { readonly name: string; readonly scope: Node }[] = [];
  /** Functions of the file that return one. */
  const givers = new Set<string>();

  // A name can depend on a later one: further passes follow such chains.
  for (let look = 0; look < 3; look++) {
    walk(file, (node) => {
      if (ast.isVariableDeclaration(node) && node.initializer !== undefined) {
        if (ast.isIdentifier(node.name) && isText(node.initializer)) hold(node.name.text, node);
        if (ast.isObjectBindingPattern(node.name) && isError(node.initializer)) {
          for (const element of node.name.elements) {
            const property = element.propertyName ?? element.name;
            if (
              property !== undefined &&
              ast.isIdentifier(property) &&
              isTextProperty(property.text) &&
              element.name !== undefined &&
              ast.isIdentifier(element.name)
            )
              hold(element.name.text, node);
          }
        }
      }
      if (ast.isReturnStatement(node) && node.expression !== undefined && isText(node.expression)) {
        let owner: Node | undefined = node.parent;
        while (
          owner !== undefined &&
          !ast.isFunctionDeclaration(owner) &&
          !ast.isArrowFunction(owner) &&
          !ast.isFunctionExpression(owner) &&
          !ast.isMethodDeclaration(owner)
        )
          owner = owner.parent;
        if (owner !== undefined && ast.isFunctionDeclaration(owner) && owner.name !== undefined)
          givers.add(owner.name.text);
      }
    });
  }

  walk(file, (node) => {
    if (ast.isCallExpression(node) && ast.isPropertyAccessExpression(node.expression)) {
      const { name, expression } = node.expression;
      if (looking.has(name.text) && isText(expression)) note(node);
      else if (lookedIntoBy.has(name.text) && node.arguments.some(isText)) note(node);
    } else if (ast.isBinaryExpression(node) && comparing.has(node.operatorToken.kind)) {
      if ((isText(node.left) && !isNothing(node.right)) || (isText(node.right) && !isNothing(node.left))) note(node);
    } else if (ast.isSwitchStatement(node) && isText(node.expression)) {
      note(node.expression);
    }
  });
  return found;

  function note(node: Node): void {
    found.push(`${path}:${lineOf(file, node)}: ${node.getText(file)}`);
  }

  function hold(name: string, declaration: Node): void {
    let scope: Node = declaration;
    while (!ast.isBlock(scope) && !ast.isSourceFile(scope)) scope = scope.parent;
    if (!holders.some((one) => one.name === name && one.scope === scope)) holders.push({ name, scope });
  }

  function isText(node: Node): boolean {
    if (ast.isParenthesizedExpression(node) || ast.isAsExpression(node) || ast.isNonNullExpression(node))
      return isText(node.expression);
    if (ast.isConditionalExpression(node)) return isText(node.whenTrue) || isText(node.whenFalse);
    if (ast.isBinaryExpression(node))
      return isJoining(node.operatorToken.kind) && (isText(node.left) || isText(node.right));
    if (ast.isTemplateExpression(node))
      return node.templateSpans.some(({ expression }) => isText(expression) || isError(expression));
    if (ast.isPropertyAccessExpression(node)) return isTextProperty(node.name.text) && isError(node.expression);
    if (ast.isIdentifier(node)) return holders.some(({ name, scope }) => name === node.text && isWithin(node, scope));
    if (!ast.isCallExpression(node)) return false;
    if (ast.isIdentifier(node.expression)) {
      if (givers.has(node.expression.text)) return true;
      return node.expression.text === "String" && node.arguments.some(isError);
    }
    return (
      ast.isPropertyAccessExpression(node.expression) &&
      (isText(node.expression.expression) ||
        (node.expression.name.text === "toString" && isError(node.expression.expression)))
    );
  }

  /** Whether a node is the variable of a `catch`, or has the type of an error. */
  function isError(node: Node): boolean {
    if (ast.isParenthesizedExpression(node) || ast.isAsExpression(node) || ast.isNonNullExpression(node))
      return isError(node.expression) || isErrorType(checker.getTypeAtLocation(node));
    if (ast.isIdentifier(node) && isCaught(node, node.text)) return true;
    return isErrorType(checker.getTypeAtLocation(node));
  }

  function isErrorType(type: Type | undefined): boolean {
    const own = type && checker.getNonNullableType(type);
    if (own === undefined || own === checker.getAnyType()) return false;
    return ["name", "message", "stack"].every((property) => checker.getPropertyOfType(own, property) !== undefined);
  }
}

function isTextProperty(name: string): boolean {
  return name === "message" || name === "stack" || name === "errmsg" || name === "rawMessage";
}

function isNothing(node: Node): boolean {
  return node.kind === ast.SyntaxKind.NullKeyword || (ast.isIdentifier(node) && node.text === "undefined");
}

function isJoining(kind: ast.SyntaxKind): boolean {
  return (
    kind === ast.SyntaxKind.PlusToken ||
    kind === ast.SyntaxKind.QuestionQuestionToken ||
    kind === ast.SyntaxKind.BarBarToken
  );
}

function isWithin(node: Node, scope: Node): boolean {
  for (let at: Node | undefined = node; at !== undefined; at = at.parent) if (at === scope) return true;
  return false;
}

function isCaught(node: Node, name: string): boolean {
  for (let at: Node | undefined = node; at !== undefined; at = at.parent) {
    if (!ast.isCatchClause(at)) continue;
    const caught = at.variableDeclaration?.name;
    if (caught !== undefined && ast.isIdentifier(caught) && caught.text === name) return true;
  }
  return false;
}
