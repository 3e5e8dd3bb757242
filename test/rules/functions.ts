// The functions and module bodies of a source that are too long, read from its syntax tree.
import type { Node, Source } from "./syntax.ts";
import { parse, walk } from "./syntax.ts";

const functions = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

/**
 * Functions of more than `most` lines from their first to their last, as `path:line name (lines)`. In the script of a
 * page, a panel declares the functions that share its state: those are counted by themselves, and not with it.
 */
export function longFunctions({ path, text }: Source, most: number): string[] {
  const found: string[] = [];
  walk(parse(text), (node, parent) => {
    if (!functions.has(node.type)) return;
    const lines = linesOf(text, node) - (isOfPage(path) ? declaredWithin(text, node) : 0);
    if (lines > most)
      found.push(
        `${path}:${lineAt(text, node.start)} ${nameOf(node) ?? nameOf(parent) ?? "function"} (${lines} lines)`,
      );
  });
  return found;
}

function isOfPage(path: string): boolean {
  return /^src\/.*\/page\//.test(path);
}

/** The lines of the functions that the body of a function declares. */
function declaredWithin(text: string, { body }: Node): number {
  const statements = ((body as Node)["body"] ?? []) as Node[];
  const declared = statements.filter(({ type }) => type === "FunctionDeclaration");
  return declared.reduce((sum, node) => sum + linesOf(text, node), 0);
}

/** What only declares something, whatever its length: tables are declared so. */
const declaring = /^(?:Import|Export|Function|Class|Variable|TS)/;

/** A module whose statements that do work have more than `most` lines together: it is a function without a name. */
export function longBodies({ path, text }: Source, most: number): string[] {
  const working = (parse(text)["body"] as Node[]).filter(({ type }) => !declaring.test(type));
  const lines = working.reduce((sum, node) => sum + linesOf(text, node), 0);
  return lines > most ? [`${path} (${lines} lines)`] : [];
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

function linesOf(text: string, { start, end }: Node): number {
  return text.slice(start, end).split("\n").length;
}

/** The name of a function, or of the variable or member that it is the value of. */
function nameOf(node: Node | undefined): string | undefined {
  const { name } = (node?.["id"] ?? node?.["key"] ?? {}) as { readonly name?: string };
  return name;
}
