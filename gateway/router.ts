// Finds the operations of a path: a tree of segments over the raw request target, whose slashes and dots stay as they
// are (contract §2.2).
import { parseTemplate } from "./path-template.ts";
import { decodeUnreserved } from "./percent.ts";
import type { Route } from "./route.ts";

/** What the router needs to know of an operation. */
type Routed = Pick<Route, "method" | "template">;

/** A path that exists: what may be done with it. */
export interface Resource<Operation> {
  /** By method; HEAD is GET's. */
  readonly operations: ReadonlyMap<string, Operation>;
  readonly template: string;
  /** The value of `Allow`: the methods, HEAD and OPTIONS among them. */
  readonly allow: string;
}

/** A path that was found, with the raw segments that its parameters took, in their order. */
export interface Match<Operation> {
  readonly resource: Resource<Operation>;
  readonly captured: readonly string[];
}

/** Finds the resource of a path, undefined where there is none. `path` is as it was sent, without its query. */
export type Router<Operation> = (path: string) => Match<Operation> | undefined;

interface Node<Operation> {
  readonly literals: Map<string, Node<Operation>>;
  parameter?: Node<Operation>;
  resource?: Resource<Operation>;
}

/** Builds the tree once. That no two operations clash was checked when they were generated. */
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

/** Literal text goes before a parameter. `captured` is filled; an empty segment matches nothing. */
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
