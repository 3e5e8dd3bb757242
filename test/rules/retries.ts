// Finds, in a syntax tree, how a test can be tried until it passes, and what depends on how fast a machine is.
import { nameOf, pathOf } from "./names.ts";
import type { Node, Source } from "./syntax.ts";
import { parse, walk } from "./syntax.ts";

/** The options by which a runner repeats a test, wherever they are written, as `path: option`. */
export function retriesIn({ path, text }: Source): string[] {
  const found: string[] = [];
  if (!/\b(?:retry|repeats)\b/.test(text)) return found;
  walk(parse(text), (node) => {
    const isOption = /^(?:retry|repeats)$/;
    if (node.type === "ObjectExpression")
      for (const { key } of node["properties"] as Node[])
        if (isOption.test(nameOf(key) ?? "")) found.push(nameOf(key) ?? "");
    if (node.type === "AssignmentExpression") {
      const left = node["left"] as Node;
      if (left.type === "MemberExpression" && isOption.test(nameOf(left["property"]) ?? ""))
        found.push(nameOf(left["property"]) ?? "");
    }
  });
  return found.map((option) => `${path}: ${option}`);
}

const waiting = /^(?:vi\.wait(?:For|Until)|expect\.poll)$/;

/** How often a source uses what calls a function until it passes, as `path (times)`. */
export function waitsIn({ path, text }: Source): string[] {
  let times = 0;
  if (!/\b(?:wait(?:For|Until)|poll|until)\b|=\s*(?:vi|vitest|expect)\b/.test(text)) return [];
  walk(parse(text), (node) => {
    if (node.type === "MemberExpression" && waiting.test(pathOf(node) ?? "")) times++;
    if (node.type === "CallExpression" && nameOf(node["callee"]) === "until") times++;
    // The same by another name.
    if (node.type === "VariableDeclarator" && /^(?:vi|vitest|expect)$/.test(nameOf(node["init"]) ?? "")) times++;
  });
  return times === 0 ? [] : [`${path} (${times})`];
}

/** What a wait would do again with each try: it changes something, and passes for having been tried often enough. */
export function changingWaits({ path, text }: Source): string[] {
  const found: string[] = [];
  if (!/\b(?:wait(?:For|Until)|poll)\b/.test(text)) return found;
  walk(parse(text), (node) => {
    if (node.type !== "CallExpression" || !waiting.test(pathOf(node["callee"]) ?? "")) return;
    for (const argument of node["arguments"] as Node[])
      walk(argument, ({ type, start, end }) => {
        if (type === "UpdateExpression" || type === "AssignmentExpression")
          found.push(`${path}: ${text.slice(start, end).split("\n")[0]}`);
      });
  });
  return found;
}

const loops = /^(?:For|ForOf|ForIn|While|DoWhile)Statement$/;

/** Expectations within a loop whose failure is caught there: the loop is a retry by hand. */
export function caughtExpectations({ path, text }: Source): string[] {
  const found = new Set<number>();
  if (!/\bcatch\b/.test(text)) return [];
  const inTry = (node: Node): void => {
    if (node.type !== "TryStatement" || node["handler"] === null) return;
    walk(node["block"] as Node, (inner) => {
      if (inner.type === "CallExpression" && /^(?:expect|assert)\b/.test(pathOf(inner["callee"]) ?? ""))
        found.add(inner.start);
    });
  };
  walk(parse(text), (node) => {
    if (loops.test(node.type)) walk(node, inTry);
  });
  return [...found].map((at) => `${path}:${text.slice(0, at).split("\n").length}`);
}

/** Comparisons with what a clock says, as `path: comparison (times)`: they fail where a machine is slow. */
export function comparedTimes({ path, text }: Source): string[] {
  if (!/\bnow\b/.test(text) || !/\btoBe(?:Less|Greater)Than/.test(text)) return [];
  const tree = parse(text);
  const spans = new Set<string>();
  const readsClock = (node: Node): boolean => {
    let reads = false;
    walk(node, (inner) => {
      reads ||= inner.type === "CallExpression" && /^(?:performance|Date)\.now$/.test(pathOf(inner["callee"]) ?? "");
      reads ||= inner.type === "Identifier" && spans.has(nameOf(inner) ?? "");
    });
    return reads;
  };
  walk(tree, ({ type, id, init }) => {
    const value = init as Node | null | undefined;
    // A difference is a span; a reading by itself is where one begins.
    if (
      type === "VariableDeclarator" &&
      value?.type === "BinaryExpression" &&
      nameOf(id) !== undefined &&
      readsClock(value)
    )
      spans.add(nameOf(id) ?? "");
  });
  const found = new Map<string, number>();
  walk(tree, (node) => {
    if (node.type !== "CallExpression") return;
    const callee = node["callee"] as Node;
    const matcher = callee.type === "MemberExpression" ? (nameOf(callee["property"]) ?? "") : "";
    if (!/^toBe(?:Less|Greater)Than/.test(matcher) || !readsClock(node)) return;
    const comparison = matcher.includes("Less") ? "less" : "greater";
    found.set(comparison, (found.get(comparison) ?? 0) + 1);
  });
  return [...found].map(([comparison, times]) => `${path}: ${comparison} (${times})`);
}
