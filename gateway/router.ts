// Router: finds the operations of a path by a tree of segments. Slashes and dots of the raw request target are kept as
// they are (contract §2.2).
import { parseTemplate } from "./path-template.ts";
import { decodeUnreserved } from "../src/http/percent.ts";
import type { Route } from "../src/http/route.ts";

/** The properties of an operation that the router needs. */
type Routed = Pick<Route, "method" | "template">;

/** An existing path with its operations. */
export interface Resource<Operation> {
  /** The operations by method. HEAD has the operation of GET. */
  readonly operations: ReadonlyMap<string, Operation>;
  readonly template: string;
  /** The value of `Allow`: the methods of `operations`, and OPTIONS. */
  readonly allow: string;
}

/** The resource of a path, with the raw segments that matched its parameters, in order. */
export interface Match<Operation> {
  readonly resource: Resource<Operation>;
  readonly captured: readonly string[];
}

/** Returns the resource of a path, or undefined if there is none. `path` is as sent, without its query. */
export type Router<Operation> = (path: string) => Match<Operation> | undefined;

interface Node<Operation> {
  readonly literals: Map<string, Node<Operation>>;
  parameter?: Node<Operation>;
  resource?: Resource<Operation>;
}

/** Creates a router, whose tree is built once. The generator has checked that no two operations conflict. */
export function createRouter<Operation extends Routed>(operations: readonly Operation[]): Router<Operation> {
  const root: Node<Operation> = { literals: new Map() };
  for (const operation of operations) {
    const node = nodeOf(root, operation.template);
    const all = new Map(node.resource?.operations).set(operation.method, operation);
    if (operation.method === "GET") all.set("HEAD", operation);
    node.resource = { operations: all, template: operation.template, allow: [...all.keys(), "OPTIONS"].join(", ") };
  }
  return (path) => {
    const captured: string[] = [];
    const resource = find(root, path, 1, captured);
    return resource === undefined ? undefined : { resource, captured };
  };
}

function nodeOf<Operation>(root: Node<Operation>, template: string): Node<Operation> {
  let node = root;
  for (const segment of parseTemplate(template)) {
    let next = "literal" in segment ? node.literals.get(segment.literal) : node.parameter;
    if (next === undefined) {
      next = { literals: new Map() };
      if ("literal" in segment) node.literals.set(segment.literal, next);
      else node.parameter = next;
    }
    node = next;
  }
  return node;
}

/**
 * Returns the resource below a node, and adds the segments of parameters to `captured`. Literal text takes precedence
 * over a parameter. An empty segment matches nothing.
 */
function find<Operation>(
  node: Node<Operation>,
  path: string,
  start: number,
  captured: string[],
): Resource<Operation> | undefined {
  if (start > path.length) return node.resource;
  const slash = path.indexOf("/", start);
  const end = slash === -1 ? path.length : slash;
  if (end === start) return undefined;
  const text = path.slice(start, end);
  const literal = node.literals.get(decodeUnreserved(text));
  const found = literal && find(literal, path, end + 1, captured);
  if (found !== undefined || node.parameter === undefined) return found;
  captured.push(text);
  const taken = find(node.parameter, path, end + 1, captured);
  if (taken === undefined) captured.pop();
  return taken;
}
