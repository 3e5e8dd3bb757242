// Names and texts in syntax trees: of an identifier, of a member however it is written, and of a literal.
import type { Node } from "./syntax.ts";

/** The name of an identifier, or of a key or a member that is written as a text. */
export function nameOf(value: unknown): string | undefined {
  const node = value as Node | null | undefined;
  if (node?.type === "Identifier") return node["name"] as string;
  return literalOf(node);
}

/** The text of a literal, or of a template without a hole. */
export function literalOf(value: unknown): string | undefined {
  const node = value as Node | null | undefined;
  if (node?.type === "Literal") return typeof node["value"] === "string" ? node["value"] : undefined;
  if (node?.type !== "TemplateLiteral") return undefined;
  const [only, ...others] = node["quasis"] as Node[];
  return others.length > 0 ? undefined : (only?.["value"] as { readonly cooked: string }).cooked;
}

/** An expression of names as `process.env`, also where it is written `process["env"]`; undefined for any other. */
export function pathOf(value: unknown): string | undefined {
  const node = value as Node | null | undefined;
  if (node?.type === "Identifier") return node["name"] as string;
  if (node?.type === "MetaProperty") return `${nameOf(node["meta"])}.${nameOf(node["property"])}`;
  if (node?.type === "ChainExpression" || node?.type === "TSNonNullExpression" || node?.type === "TSAsExpression")
    return pathOf(node["expression"]);
  if (node?.type !== "MemberExpression") return undefined;
  const of = pathOf(node["object"]);
  const name = node["computed"] === true ? literalOf(node["property"]) : nameOf(node["property"]);
  return of === undefined || name === undefined ? undefined : `${of}.${name}`;
}
