// Decides whether a command on records names the account that it is for, by the type of its filter.
import * as ast from "typescript/unstable/ast";
import type { Node } from "typescript/unstable/ast";
import { SymbolFlags } from "typescript/unstable/sync";
import type { Checker } from "typescript/unstable/sync";
import type { Tree } from "../../../scripts/syntax-trees.ts";
import { lineOf, walk } from "../../../scripts/syntax-trees.ts";
import { declarationOf, originsOf } from "./origins.ts";
import type { Finding } from "./writes.ts";

/** Collections of which no command may concern several accounts. */
const ofRecords = new Set(["contacts", "notes", "sessions", "transcripts"]);
/** Collections that have accounts as well: a command on one document may name it by something else. */
const ofAccounts = new Set(["apiKeys", "auditLog"]);

/** Where the filter is among the arguments, and whether it is the first stage of a pipeline. */
const functions: ReadonlyMap<string, { readonly at: number; readonly isPipeline: boolean }> = new Map([
  ["findAll", { at: 1, isPipeline: false }],
  ["findFirst", { at: 1, isPipeline: false }],
  ["countUpTo", { at: 2, isPipeline: false }],
  ["requireNotFenced", { at: 1, isPipeline: false }],
  ["aggregate", { at: 1, isPipeline: true }],
  ["aggregateStored", { at: 1, isPipeline: true }],
  ["read", { at: 2, isPipeline: true }],
]);
const methods =
  /^(?:update(?:One|Many)|replaceOne|delete(?:One|Many)|findOneAnd(?:Update|Replace|Delete)|find|findOne|countDocuments)$/;

/** Commands outside `src/db` whose filter does not name one account. `src/db` is given its filters. */
export function withoutAccount(trees: readonly Tree[]): Finding[] {
  return trees.filter(({ path }) => !path.startsWith("src/db/")).flatMap(withoutAccountIn);
}

function withoutAccountIn({ path, file, checker }: Tree): Finding[] {
  const found: Finding[] = [];
  walk(file, (node) => {
    if (!ast.isCallExpression(node)) return;
    const command = commandOf(node);
    if (command === undefined) return;
    const keys = originsOf(checker, command.collection).flatMap((origin) => ("key" in origin ? [origin.key] : []));
    const given = originsOf(checker, command.collection).some((origin) => "parameter" in origin);
    const isOfRecords = keys.some((key) => ofRecords.has(key)) || (given && isRoomOfRecords(path));
    const isOfAccounts = keys.some((key) => ofAccounts.has(key)) && /Many$/.test(command.name);
    if (!isOfRecords && !isOfAccounts) return;
    const filter = command.isPipeline ? firstMatch(checker, command.filter) : command.filter;
    if (filter === undefined || !namesAccount(checker, filter))
      found.push({ path, line: lineOf(file, node), problem: `${command.name} names no account` });
  });
  return found;
}

interface Command {
  readonly name: string;
  readonly collection: Node;
  readonly filter: Node | undefined;
  readonly isPipeline: boolean;
}

function commandOf({ expression, arguments: given }: ast.CallExpression): Command | undefined {
  if (ast.isIdentifier(expression)) {
    const known = functions.get(expression.text);
    if (known === undefined || given[0] === undefined || given.length <= known.at) return undefined;
    return { name: expression.text, collection: given[0], filter: given[known.at], isPipeline: known.isPipeline };
  }
  if (!ast.isPropertyAccessExpression(expression) || !methods.test(expression.name.text)) return undefined;
  return { name: expression.name.text, collection: expression.expression, filter: given[0], isPipeline: false };
}

/** A function of these rooms that is given a collection is given one of records. */
function isRoomOfRecords(path: string): boolean {
  return /^src\/(?:contacts|sessions|notes)\//.test(path);
}

/** The filter of the first stage of a pipeline, where it is written down. */
function firstMatch(checker: Checker, node: Node | undefined): Node | undefined {
  if (node === undefined) return undefined;
  if (ast.isIdentifier(node)) return firstMatch(checker, initializerOf(checker, node));
  if (ast.isConditionalExpression(node)) return firstMatch(checker, node.whenTrue);
  if (ast.isArrayLiteralExpression(node)) return firstMatch(checker, node.elements[0]);
  if (ast.isSpreadElement(node)) return firstMatch(checker, node.expression);
  if (!ast.isObjectLiteralExpression(node)) return undefined;
  const [stage] = node.properties;
  if (stage === undefined || !ast.isPropertyAssignment(stage) || stage.name.getText() !== "$match") return undefined;
  return stage.initializer;
}

function initializerOf(checker: Checker, node: Node): Node | undefined {
  const declaration = declarationOf(checker, checker.getSymbolAtLocation(node));
  return declaration !== undefined && ast.isVariableDeclaration(declaration) ? declaration.initializer : undefined;
}

/** Whether the type says that there is an account, which is one id and no condition. */
function namesAccount(checker: Checker, filter: Node): boolean {
  const type = checker.getTypeAtLocation(filter);
  const account = type && checker.getPropertyOfType(type, "account_id");
  if (account === undefined || (account.flags & SymbolFlags.Optional) !== 0) return false;
  return checker.getTypeOfSymbolAtLocation(account, filter).getSymbol()?.name === "UUID";
}
