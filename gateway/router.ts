// Router: finds the operations of a path. Slashes and dots of the raw request target are kept as they are (contract
// §2.2).
import type { Segment } from "./path-template.ts";
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

/** Creates a router. The generator has checked that no two operations conflict. */
export function createRouter<Operation extends Routed>(operations: readonly Operation[]): Router<Operation> {
  // In this order, literal text comes before a parameter in its place.
  const templates = [...new Set(operations.map(({ template }) => template))].sort();
  const resources = templates.map((template) => {
    const own = operations.filter((operation) => operation.template === template);
    const all = new Map(
      own.flatMap((operation) =>
        (operation.method === "GET" ? ["GET", "HEAD"] : [operation.method]).map(
          (method) => [method, operation] as const,
        ),
      ),
    );
    const resource = { operations: all, template, allow: [...all.keys(), "OPTIONS"].join(", ") };
    // Before the first slash, a path is empty.
    return { segments: [{ literal: "" }, ...parseTemplate(template)], resource };
  });
  // One segment more than the longest template is enough to match none.
  const limit = 1 + Math.max(...resources.map(({ segments }) => segments.length));
  return (path) => {
    const sent = path.split("/", limit);
    const texts = decodeUnreserved(path).split("/", limit);
    for (const { segments, resource } of resources) {
      const captured = segments.length === sent.length ? capture(segments, sent, texts) : undefined;
      if (captured !== undefined) return { resource, captured };
    }
    return undefined;
  };
}

/** Returns what the parameters of a template match in the raw segments; undefined if it does not match. */
function capture(segments: readonly Segment[], sent: string[], texts: string[]): string[] | undefined {
  const captured: string[] = [];
  for (let at = 0; at < sent.length; at++) {
    const [segment, raw = ""] = [segments[at], sent[at]];
    if (segment === undefined || ("literal" in segment ? segment.literal !== texts[at] : raw === "")) return undefined;
    if ("parameter" in segment) captured.push(raw);
  }
  return captured;
}
