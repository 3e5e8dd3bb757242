// The module bodies of a source that are too long, read from its syntax tree.
import type { Node, Source } from "./syntax.ts";
import { parse } from "./syntax.ts";

/** What only declares something, whatever its length: tables are declared so. */
const declaring = /^(?:Import|Export|Function|Class|Variable|TS)/;

/** A module whose statements that do work have more than `most` lines together: it is a function without a name. */
export function longBodies({ path, text }: Source, most: number): string[] {
  const working = (parse(text)["body"] as Node[]).filter(({ type }) => !declaring.test(type));
  const lines = working.reduce((sum, node) => sum + linesOf(text, node), 0);
  return lines > most ? [`${path} (${lines} lines)`] : [];
}

function linesOf(text: string, { start, end }: Node): number {
  return text.slice(start, end).split("\n").length;
}
