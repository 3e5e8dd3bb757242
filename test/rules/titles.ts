// Finds the tests whose title is not where the test is: neither the ledger nor the vocabulary reads it.
import { nameOf } from "./names.ts";
import { declaredBy } from "./skipped.ts";
import type { Node, Source } from "./syntax.ts";
import { parse, walk } from "./syntax.ts";

/** The calls that declare a test by a title from elsewhere, as `path: title`. A case has its own, as its `title`. */
export function distantTitles({ path, text }: Source): string[] {
  const found: string[] = [];
  walk(parse(text), (node) => {
    if (node.type !== "CallExpression" || declaredBy(node) === undefined) return;
    const callee = node["callee"] as Node;
    const isTable = callee.type === "MemberExpression" && /^(?:each|for)$/.test(nameOf(callee["property"]) ?? "");
    const [title] = node["arguments"] as Node[];
    if (isTable || title === undefined || isWritten(title)) return;
    found.push(`${path}: ${text.slice(title.start, title.end)}`);
  });
  return found;
}

function isWritten(title: Node): boolean {
  if (title.type === "BinaryExpression") return isWritten(title["left"] as Node) || isWritten(title["right"] as Node);
  if (title.type === "MemberExpression") return nameOf(title["property"]) === "title" && title["computed"] !== true;
  return (title.type === "Literal" && typeof title["value"] === "string") || title.type === "TemplateLiteral";
}
