// Finds, in syntax trees, who writes to which collection, and collections that are named by a text.
import type { Node } from "./syntax.ts";
import { parse, walk } from "./syntax.ts";

const mutating = /^(?:insert(?:One|Many)|update(?:One|Many)|replaceOne|delete(?:One|Many)|findOneAnd\w+|bulkWrite)$/;
/** Functions of `src/db` that write to the collection which they are given. */
const writingHelpers = new Set(["putBatch", "insertInTime", "lockNamed"]);

/** Stages of a pipeline that name another collection. */
const stages = new Set(["$lookup", "$unionWith", "$graphLookup", "$merge"]);

/** What a file writes to, by the key of `collections`, or by the name of a variable that it was given. */
export function writtenBy(text: string): ReadonlySet<string> {
  const keys = new Map<string, string>();
  const written = new Set<string>();
  walk(parse(text), (node) => {
    if (node.type === "VariableDeclarator" && nameOf(node["id"]) !== undefined) {
      const key = openedIn(node["init"]);
      if (key !== undefined) keys.set(nameOf(node["id"]) as string, key);
    }
    if (node.type !== "CallExpression") return;
    const callee = node["callee"] as Node;
    if (callee.type === "MemberExpression" && mutating.test(nameOf(callee["property"]) ?? ""))
      written.add(openedIn(callee["object"]) ?? nameOf(callee["object"]) ?? "?");
    if (writingHelpers.has(nameOf(callee) ?? ""))
      for (const argument of node["arguments"] as Node[]) {
        const name = nameOf(argument);
        if (name !== undefined && keys.has(name)) written.add(name);
      }
  });
  return new Set([...written].map((name) => keys.get(name) ?? name));
}

/** Calls of `collection` and stages of a pipeline that name a collection by a text instead of by `collections`. */
export function namedByText(text: string): string[] {
  const found: string[] = [];
  walk(parse(text), (node) => {
    const literal = (value: unknown): void => {
      if ((value as Node | undefined)?.type === "Literal") found.push(String((value as Node)["value"]));
    };
    if (node.type === "CallExpression" && nameOf((node["callee"] as Node)["property"]) === "collection")
      literal((node["arguments"] as unknown[])[0]);
    if (node.type === "Property" && stages.has(nameOf(node["key"]) ?? ""))
      for (const property of ((node["value"] as Node)["properties"] as Node[] | undefined) ?? [])
        if (["coll", "from", "into"].includes(nameOf(property["key"]) ?? "")) literal(property["value"]);
  });
  return found;
}

/** The key of `collections` that an expression opens, if it opens one. */
function openedIn(value: unknown): string | undefined {
  let key: string | undefined;
  if (value === null || value === undefined) return undefined;
  walk(value as Node, (node) => {
    if (node.type !== "CallExpression" || nameOf((node["callee"] as Node)["property"]) !== "collection") return;
    const [name] = node["arguments"] as Node[];
    if (name?.type === "MemberExpression" && nameOf(name["object"]) === "collections") key = nameOf(name["property"]);
  });
  return key;
}

function nameOf(value: unknown): string | undefined {
  const node = value as Node | undefined;
  return node?.type === "Identifier" ? (node["name"] as string) : undefined;
}
