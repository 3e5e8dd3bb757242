// The functions of a source that are too long, read from its syntax tree.
import type { Node, Source } from "./syntax.ts";
import { parse, walk } from "./syntax.ts";

const functions = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

/** Functions of more than `most` lines from their first to their last, as `path:line name (lines)`. */
export function longFunctions({ path, text }: Source, most: number): string[] {
  const found: string[] = [];
  const lineAt = (offset: number): number => text.slice(0, offset).split("\n").length;
  walk(parse(text), (node, parent) => {
    if (!functions.has(node.type)) return;
    const first = lineAt(node.start);
    const lines = lineAt(node.end) - first + 1;
    if (lines > most) found.push(`${path}:${first} ${nameOf(node) ?? nameOf(parent) ?? "function"} (${lines} lines)`);
  });
  return found;
}

/** The name of a function, or of the variable or member that it is the value of. */
function nameOf(node: Node | undefined): string | undefined {
  const { name } = (node?.["id"] ?? node?.["key"] ?? {}) as { readonly name?: string };
  return name;
}
