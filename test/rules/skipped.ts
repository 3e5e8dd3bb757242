// Finds, in a syntax tree, the tests that do not run, or that run nothing: what their titles claim is not proven.
import { nameOf, pathOf } from "./names.ts";
import type { Node, Source } from "./syntax.ts";
import { parse, walk } from "./syntax.ts";

const modifier = /^(?:skip|todo|fails|skipIf|runIf|only)$/;
const declaring = /^(?:test|it|describe|suite)$/;

/** What leaves a test out, as `path: code`: by a modifier, an option, a call of its own, or an empty body. */
export function leftOutIn({ path, text }: Source): string[] {
  const found: string[] = [];
  walk(parse(text), (node) => {
    const what = modifierOf(node) ?? optionOf(node) ?? ownSkip(node) ?? (isEmpty(node) ? "an empty test" : undefined);
    if (what !== undefined) found.push(`${path}: ${what}`);
  });
  return [...new Set(found)];
}

/** Whether a call that declares a test or a suite declares what does not run. */
export function isLeftOut(call: Node): boolean {
  let leftOut = isEmpty(call);
  // Of the callee, the options and the test itself; the tests within a suite are checked each by itself.
  const own = isSuite(call) ? optionsOf(call) : (call["arguments"] as Node[]);
  for (const part of [call["callee"] as Node, ...own])
    walk(part, (node) => {
      leftOut ||= (modifierOf(node) ?? optionOf(node) ?? ownSkip(node)) !== undefined;
    });
  return leftOut;
}

/** The first name of a call that declares tests: `test` of `test(…)`, `test.each(…)(…)` and `test.skip(…)`. */
export function declaredBy(call: Node): string | undefined {
  let callee = call["callee"] as Node | undefined;
  while (callee !== undefined && callee.type !== "Identifier")
    callee = (callee["object"] ?? callee["callee"] ?? callee["tag"]) as Node | undefined;
  const name = nameOf(callee);
  return name !== undefined && declaring.test(name) ? name : undefined;
}

function isSuite(call: Node): boolean {
  return /^(?:describe|suite)$/.test(declaredBy(call) ?? "");
}

function optionsOf(call: Node): Node[] {
  return (call["arguments"] as Node[]).filter(({ type }) => type === "ObjectExpression");
}

/** `test.skip`, `describe.runIf` and the like, called or kept. */
function modifierOf(node: Node): string | undefined {
  if (node.type === "Identifier" && /^x(?:it|test|describe)$/.test(node["name"] as string)) return nameOf(node);
  if (node.type !== "MemberExpression" || !modifier.test(nameOf(node["property"]) ?? "")) return undefined;
  let of = node["object"] as Node;
  while (of.type === "MemberExpression" || of.type === "CallExpression") of = (of["object"] ?? of["callee"]) as Node;
  return declaring.test(nameOf(of) ?? "") ? `${nameOf(of)}.${nameOf(node["property"])}` : undefined;
}

/** The option of a test, wherever the options are written. */
function optionOf(node: Node): string | undefined {
  if (node.type === "AssignmentExpression") {
    const left = node["left"] as Node;
    return left.type === "MemberExpression" && modifier.test(nameOf(left["property"]) ?? "")
      ? `the option ${nameOf(left["property"])}`
      : undefined;
  }
  if (node.type !== "ObjectExpression") return undefined;
  // What is called `only` elsewhere has a list or a text.
  const isOption = ({ key, value }: Node): boolean =>
    modifier.test(nameOf(key) ?? "") && (nameOf(key) !== "only" || (value as Node)["value"] === true);
  const name = nameOf((node["properties"] as Node[]).find(isOption)?.["key"]);
  return name === undefined ? undefined : `the option ${name}`;
}

/** A call of the `skip` of a test's context, taken out of it or not; a cursor of the driver has one as well. */
function ownSkip(node: Node): string | undefined {
  if (node.type !== "CallExpression") return undefined;
  const called = pathOf(node["callee"]) ?? "";
  if (declaring.test(called.split(".")[0] ?? "")) return undefined;
  return /(?:^|\.)skip$/.test(called) ? `${called}()` : undefined;
}

/** A test without a function, or whose function calls nothing: it can only pass. */
function isEmpty(call: Node): boolean {
  if (call.type !== "CallExpression" || !/^(?:test|it)$/.test(declaredBy(call) ?? "")) return false;
  const callee = call["callee"] as Node;
  // `test.each(rows)` gives what declares the tests, and a modifier may do so.
  if (callee.type === "MemberExpression" && /^(?:each|for|skipIf|runIf|extend)$/.test(nameOf(callee["property"]) ?? ""))
    return false;
  const given = call["arguments"] as Node[];
  if (given.length < 2) return callee.type === "Identifier";
  const body = given.find(({ type }) => type === "ArrowFunctionExpression" || type === "FunctionExpression")?.["body"];
  if (body === undefined) return false;
  let calls = false;
  walk(body as Node, ({ type }) => {
    calls ||= /^(?:CallExpression|NewExpression|AwaitExpression|ImportExpression|TaggedTemplateExpression)$/.test(type);
  });
  return !calls;
}
