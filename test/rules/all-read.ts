// Finds the service methods that could ignore a field of their request, in the syntax tree.
import type { Node, Source } from "./syntax.ts";
import { parse, walk } from "./syntax.ts";

/**
 * The methods of these names that hand on neither their request nor what is left of it, as `path: method`. Whatever
 * takes it has a type that does not compile where a field is left.
 */
export function unreadRequests({ path, text }: Source, rpcs: ReadonlySet<string>): string[] {
  const found: string[] = [];
  walk(parse(text), (node) => {
    const { name } = (node["key"] ?? {}) as { readonly name?: string };
    const method = node["value"] as Node | undefined;
    if (node.type !== "Property" || name === undefined || !rpcs.has(name) || !isFunction(method)) return;
    const request = restOf((method["params"] as readonly Node[])[0]);
    if (request === undefined || !isHandedOn(method["body"] as Node, request)) found.push(`${path}: ${name}`);
  });
  return found;
}

function isFunction(node: Node | undefined): node is Node {
  return node?.type === "FunctionExpression" || node?.type === "ArrowFunctionExpression";
}

/** The name of a parameter, or of what is left of it. */
function restOf(parameter: Node | undefined): string | undefined {
  if (parameter?.type === "Identifier") return parameter["name"] as string;
  const last = (parameter?.["properties"] as readonly Node[] | undefined)?.at(-1);
  return last?.type === "RestElement" ? (last["argument"] as { readonly name?: string }).name : undefined;
}

/** Whether it is the argument of a call, or what is left of it is: `const { query, ...rest } = request`. */
function isHandedOn(body: Node, name: string): boolean {
  let isArgument = false;
  let left: string | undefined;
  const isNamed = (node: Node): boolean => node.type === "Identifier" && node["name"] === name;
  walk(body, (node) => {
    if (node.type === "CallExpression" && (node["arguments"] as readonly Node[]).some(isNamed)) isArgument = true;
    if (node.type === "VariableDeclarator" && node["init"] !== null && isNamed(node["init"] as Node))
      left = restOf(node["id"] as Node);
  });
  return isArgument || (left !== undefined && left !== name && isHandedOn(body, left));
}
