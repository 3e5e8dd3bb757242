// The functions and module bodies of a source that are too long, read from its syntax tree.
import type { Node, Source } from "./syntax.ts";
import { parse, walk } from "./syntax.ts";

const functions = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

/** Functions of more than `most` lines from their first to their last, as `path:line name (lines)`. */
export function longFunctions({ path, text }: Source, most: number): string[] {
  const found: string[] = [];
  walk(parse(text), (node, parent) => {
    if (!functions.has(node.type)) return;
    const lines = linesOf(text, node);
    if (lines > most)
      found.push(
        `${path}:${lineAt(text, node.start)} ${nameOf(node) ?? nameOf(parent) ?? "function"} (${lines} lines)`,
      );
  });
  return found;
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
