// Finds every use of a member of the MongoDB driver's client, databases, collections, sessions and bulk operations.
import * as ast from "typescript/unstable/ast";
import type { Node } from "typescript/unstable/ast";
import type { Checker, Symbol, Type } from "typescript/unstable/sync";
import type { Tree } from "../../../scripts/syntax-trees.ts";
import { lookUpAll, isPlainText, walk } from "../../../scripts/syntax-trees.ts";

/** One use, such as `contacts.deleteMany`. */
export interface Access {
  readonly tree: Tree;
  /** The name of the member, where it is used. */
  readonly node: Node;
  /** The class and the member, such as `Collection.deleteMany`; `?` for a member that is computed. */
  readonly of: string;
  readonly member: string;
  /** The call of the member; undefined where it is taken without being called at once. */
  readonly call: ast.CallExpression | undefined;
  /** What the member is taken from; undefined in a pattern. */
  readonly object: Node | undefined;
}

/** The classes of the driver by which data is read or written. */
const classes = new Set([
  ...["Admin", "ClientSession", "Collection", "Db", "FindOperators", "MongoClient"],
  ...["BulkOperationBase", "OrderedBulkOperation", "UnorderedBulkOperation"],
]);

/** Members that no other class has: they count whatever the object's type is, which may be one of our own. */
const unmistakable =
  /^(?:insert(?:One|Many)|update(?:One|Many)|replaceOne|delete(?:One|Many)|findOneAnd\w+|bulkWrite|initialize\w+BulkOp|drop(?:Collection|Database|Index(?:es)?)|create(?:Index(?:es)?|Collection)|runCursorCommand)$/;

/** All uses in a file, in the order of the text. */
export function accessesIn(tree: Tree): Access[] {
  const { file, checker } = tree;
  const names: Node[] = [];
  const patterns: Node[] = [];
  const computed: ast.ElementAccessExpression[] = [];
  walk(file, (node) => {
    if (ast.isPropertyAccessExpression(node)) names.push(node.name);
    else if (ast.isElementAccessExpression(node)) {
      if (isPlainText(node.argumentExpression)) names.push(node.argumentExpression);
      else computed.push(node);
    } else if (ast.isObjectBindingPattern(node)) patterns.push(node);
    else if (ast.isBinaryExpression(node) && isPatternAssigned(node)) patterns.push(node.right);
  });
  const symbols = lookUpAll(names, (nodes) => checker.getSymbolAtLocation(nodes));
  return [
    ...names.flatMap((node) => accessAt(tree, node, symbols.get(node)) ?? []),
    ...computedIn(tree, computed),
    ...takenApart(tree, patterns),
  ];
}

function accessAt(tree: Tree, node: Node, symbol: Symbol | undefined): Access | undefined {
  const member = (node as Node & { readonly text: string }).text;
  const of = classOf(symbol) ?? (unmistakable.test(member) ? "?" : undefined);
  if (of === undefined) return undefined;
  const use = node.parent as ast.PropertyAccessExpression | ast.ElementAccessExpression;
  let whole: Node = use;
  while (ast.isParenthesizedExpression(whole.parent) || ast.isNonNullExpression(whole.parent)) whole = whole.parent;
  const { parent } = whole;
  const call = ast.isCallExpression(parent) && parent.expression === whole ? parent : undefined;
  return { tree, node, of: `${of}.${member}`, member, call, object: use.expression };
}

/** The driver's class that declares a member. */
function classOf(symbol: Symbol | undefined): string | undefined {
  if (symbol?.declarations.some(({ path }) => path.includes("/node_modules/mongodb/")) !== true) return undefined;
  const name = symbol.getParent()?.name;
  return name !== undefined && classes.has(name) ? name : undefined;
}

/** The driver's class that a node has the type of, alone or among others. */
export function driverClass(checker: Checker, node: Node): string | undefined {
  return classesIn(checker, checker.getTypeAtLocation(node))[0];
}

/** The driver's classes in a type. */
export function classesIn(checker: Checker, type: Type | undefined): string[] {
  const own = type && checker.getNonNullableType(type);
  if (own === undefined) return [];
  const parts = own.isUnionType() || own.isIntersectionType() ? own.getTypes() : [own];
  return parts.flatMap((part) => part.getSymbol()?.name ?? []).filter((name) => classes.has(name));
}

/** Members by a name that is computed, of an object of the driver. */
function computedIn(tree: Tree, nodes: readonly ast.ElementAccessExpression[]): Access[] {
  const objects = lookUpAll(
    nodes.map(({ expression }) => expression),
    (some) => tree.checker.getTypeAtLocation(some),
  );
  return nodes.flatMap((node): Access[] => {
    const [of] = classesIn(tree.checker, objects.get(node.expression));
    if (of === undefined) return [];
    return [{ tree, node, of: `${of}.?`, member: "?", call: undefined, object: node.expression }];
  });
}

/** Members that a pattern takes: in a declaration, a parameter or an assignment. */
function takenApart(tree: Tree, patterns: readonly Node[]): Access[] {
  const types = lookUpAll(patterns, (some) => tree.checker.getTypeAtLocation(some));
  return patterns.flatMap((pattern) => {
    const type = types.get(pattern);
    return namesIn(pattern).flatMap(({ node, name }): Access[] => {
      const symbol = type && tree.checker.getPropertyOfType(type, name);
      const of = classOf(symbol) ?? (unmistakable.test(name) ? "?" : undefined);
      return of === undefined
        ? []
        : [{ tree, node, of: `${of}.${name}`, member: name, call: undefined, object: undefined }];
    });
  });
}

function namesIn(pattern: Node): { readonly node: Node; readonly name: string }[] {
  if (ast.isObjectBindingPattern(pattern))
    return pattern.elements.flatMap((element) => textOf(element.propertyName ?? element.name));
  const { left } = pattern.parent as ast.BinaryExpression;
  return (left as ast.ObjectLiteralExpression).properties.flatMap((property) =>
    ast.isPropertyAssignment(property) || ast.isShorthandPropertyAssignment(property) ? textOf(property.name) : [],
  );
}

function textOf(name: Node | undefined): { readonly node: Node; readonly name: string }[] {
  if (name !== undefined && (ast.isIdentifier(name) || isPlainText(name))) return [{ node: name, name: name.text }];
  if (name === undefined || !ast.isComputedPropertyName(name)) return [];
  return textOf(name.expression);
}

function isPatternAssigned({ operatorToken, left }: ast.BinaryExpression): boolean {
  return operatorToken.kind === ast.SyntaxKind.EqualsToken && ast.isObjectLiteralExpression(left);
}
