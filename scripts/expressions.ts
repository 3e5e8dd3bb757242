// Finds every regular expression in a program's syntax trees: literals, and those that are built from strings.
import * as ast from "typescript/unstable/ast";
import type { Expression, Node } from "typescript/unstable/ast";
import type { Checker } from "typescript/unstable/sync";
import { TypeFlags } from "typescript/unstable/sync";
import type { Tree } from "./syntax-trees.ts";
import { lineOf, walk } from "./syntax-trees.ts";

/** Where an expression occurs in the source. */
export interface Place {
  readonly path: string;
  readonly line: number;
}

/** A regular expression whose text is known. */
export interface FoundExpression extends Place {
  readonly source: string;
  readonly flags: string;
}

/** A regular expression whose text is built at run time by `code`. */
export interface BuiltExpression extends Place {
  readonly code: string;
}

export interface Expressions {
  readonly known: readonly FoundExpression[];
  readonly built: readonly BuiltExpression[];
}

/** String methods that interpret a string as a regular expression. */
const converting = new Set(["match", "matchAll", "search"]);

export function expressionsOf(trees: readonly Tree[]): Expressions {
  const known: FoundExpression[] = [];
  const built: BuiltExpression[] = [];
  for (const { path, file, checker } of trees) {
    const add = (node: Node, source: string | undefined, flags: string | undefined): void => {
      const place = { path, line: lineOf(file, node) };
      if (source === undefined || flags === undefined) built.push({ ...place, code: node.getText(file) });
      else known.push({ ...place, source, flags });
    };
    walk(file, (node) => {
      if (ast.isRegularExpressionLiteral(node)) {
        const end = node.text.lastIndexOf("/");
        add(node, node.text.slice(1, end), node.text.slice(end + 1));
      } else if ((ast.isNewExpression(node) || ast.isCallExpression(node)) && isNamed(node.expression, "RegExp")) {
        const [source, flags] = node.arguments ?? [];
        add(node, source && textOf(source, checker), flags === undefined ? "" : textOf(flags, checker));
      } else if (
        ast.isCallExpression(node) &&
        ast.isPropertyAccessExpression(node.expression) &&
        converting.has(node.expression.name.text)
      ) {
        const [pattern] = node.arguments;
        if (pattern !== undefined && isString(node.expression.expression, checker) && isString(pattern, checker))
          add(node, textOf(pattern, checker), "");
      } else if (isNamed(node, "RegExp") && isAlias(node)) {
        add(node, undefined, undefined);
      }
    });
  }
  return { known, built };
}

function isNamed(node: Node, name: string): boolean {
  return ast.isIdentifier(node) && node.text === name;
}

/** Whether the name is used as a value rather than in a call, an `instanceof` or a type. */
function isAlias(node: Node): boolean {
  const { parent } = node;
  if (ast.isNewExpression(parent) || ast.isCallExpression(parent)) return parent.expression !== node;
  return (
    !ast.isTypeReferenceNode(parent) &&
    !(ast.isBinaryExpression(parent) && parent.operatorToken.kind === ast.SyntaxKind.InstanceOfKeyword)
  );
}

function isString(node: Expression, checker: Checker): boolean {
  return ((checker.getTypeAtLocation(node)?.flags ?? 0) & TypeFlags.StringLike) !== 0;
}

/** The value of an expression that consists of literals and constants; undefined for any other. */
function textOf(node: Expression, checker: Checker): string | undefined {
  if (ast.isStringLiteral(node) || ast.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (ast.isParenthesizedExpression(node)) return textOf(node.expression, checker);
  if (ast.isBinaryExpression(node) && node.operatorToken.kind === ast.SyntaxKind.PlusToken) {
    return joined([textOf(node.left, checker), textOf(node.right, checker)]);
  }
  if (ast.isTemplateExpression(node)) {
    return joined([
      node.head.text,
      ...node.templateSpans.flatMap((span) => [textOf(span.expression, checker), span.literal.text]),
    ]);
  }
  const type = checker.getTypeAtLocation(node);
  return type?.isStringLiteralType() ? type.value : undefined;
}

function joined(parts: readonly (string | undefined)[]): string | undefined {
  return parts.includes(undefined) ? undefined : parts.join("");
}
