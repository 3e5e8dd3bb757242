// The syntax tree of a source, and a walk over it.
import { parseAst } from "rolldown/parseAst";

/** A source: its path from the root of the repository, and its text. */
export interface Source {
  readonly path: string;
  readonly text: string;
}

export interface Node {
  readonly type: string;
  /** Where it begins and ends in the text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

export function parse(text: string): Node {
  return parseAst(text, { lang: "ts" }) as unknown as Node;
}

/** Visits a node and all below it, each with its parent. */
export function walk(node: Node, visit: (node: Node, parent: Node | undefined) => void, parent?: Node): void {
  visit(node, parent);
  for (const member of Object.values(node)) {
    for (const one of Array.isArray(member) ? (member as unknown[]) : [member]) {
      if (typeof one === "object" && one !== null && "type" in one) walk(one as Node, visit, node);
    }
  }
}
