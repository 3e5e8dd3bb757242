// Finds, in a syntax tree, every way to the environment of the process.
import { literalOf, nameOf, pathOf } from "./names.ts";
import type { Node, Source } from "./syntax.ts";
import { parse, walk } from "./syntax.ts";

/**
 * The places that read the environment: `process.env` however it is written, `env` of Node's module, and `process`
 * where it is handed on or taken apart, so that nobody can say what is read of it.
 */
export function environmentReads({ path, text }: Source): string[] {
  const found: string[] = [];
  if (!/\bprocess\b/.test(text)) return found;
  const add = (node: Node): void => void found.push(`${path}: ${text.slice(node.start, node.end).split("\n")[0]}`);
  walk(parse(text), (node, parent) => {
    if (node.type === "ImportDeclaration" && /^(?:node:)?process$/.test(literalOf(node["source"]) ?? "")) {
      const names = (node["specifiers"] as Node[]).map(({ type, imported }) =>
        type === "ImportSpecifier" ? nameOf(imported) : undefined,
      );
      // The whole module, by whatever name, has the environment too.
      if (names.some((name) => name === undefined || name === "env" || name === "default")) add(node);
    }
    const isExpression = /^(?:import|require)$/i.test(pathOf(node["callee"]) ?? "") || node.type === "ImportExpression";
    const loaded = literalOf(node["source"] ?? (node["arguments"] as Node[] | undefined)?.[0]);
    if (isExpression && /^(?:node:)?process$/.test(loaded ?? "")) add(node);
    if (!isProcess(node) || parent === undefined || !isValue(node, parent)) return;
    if (parent.type !== "MemberExpression") add(parent);
    else if (parent["object"] === node) {
      const member = parent["computed"] === true ? literalOf(parent["property"]) : nameOf(parent["property"]);
      if (member === undefined || member === "env") add(parent);
    }
  });
  return found;
}

function isProcess(node: Node): boolean {
  return (
    (node.type === "Identifier" && node["name"] === "process") ||
    (node.type === "MemberExpression" && /^(?:globalThis|global)\.process$/.test(pathOf(node) ?? ""))
  );
}

/** Whether an identifier is the global itself, and not a key, a member or a type of that name. */
function isValue(node: Node, parent: Node): boolean {
  if (parent.type === "MemberExpression") return parent["object"] === node || parent["computed"] === true;
  if (parent.type === "Property") return parent["value"] === node;
  return (
    !/^(?:TS|Import|Export|MethodDefinition|PropertyDefinition)/.test(parent.type) || parent.type === "TSAsExpression"
  );
}
