// Extracts what the service looks for in requests from its syntax trees: header names, literals and regular
// expressions.
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { parseAst } from "rolldown/parseAst";

/** Names and texts that the sources read or compare. */
export interface Sought {
  /** Names of request headers that are read, in lowercase. */
  readonly headers: readonly string[];
  /** Literals that text is split by, searched for or compared with. */
  readonly literals: readonly string[];
  /** Sources of regular expressions. */
  readonly expressions: readonly string[];
}

/** A node of a syntax tree (ESTree). */
interface Node {
  readonly type: string;
  readonly [member: string]: unknown;
}

const root = join(import.meta.dirname, "../../..");
/** Code that requests do not reach: generated tables, command line, embedded servers, browser scripts. */
const unreached = /^src\/(?:gen|cli|embedded)\/|\/page\/|^gateway\/plugin\/|\.d\.ts$/;
/** Methods that split or search text. */
const searching = new Set("split indexOf lastIndexOf includes startsWith endsWith replace replaceAll".split(" "));
const comparing = new Set(["===", "!=="]);
/** What a header name looks like that the sources pass in a variable. */
const headerName = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)+$/;
/** Headers that Node's HTTP implementation reads. */
const readByNode = [
  ...["connection", "content-length", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"],
  ...[":authority", "cookie", "user-agent", "http2-settings", "proxy-connection", "set-cookie"],
];

/** The names and texts of the service, and the headers that its libraries and Node read. */
export function readSought(): Sought {
  const own = ["src", "gateway"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .map((name) => `${folder}/${name}`)
      .filter((name) => name.endsWith(".ts") && !unreached.test(name)),
  );
  const sought = own.map((name) => soughtIn(readFileSync(join(root, name), "utf8")));
  const libraries = filesOf("@connectrpc/connect", /protocol.*\/[\w-]+\.js$/);
  const connect = libraries.length;
  // Large, and only used for their headers.
  const others = filesOf("@modelcontextprotocol/server").filter((name) =>
    readFileSync(name, "utf8").includes("headers.get("),
  );
  const theirs = [...libraries, ...others].map((name) => soughtIn(readFileSync(name, "utf8"), "theirs"));
  return {
    headers: unique([...readByNode, ...[...sought, ...theirs].flatMap(({ headers }) => headers)]),
    literals: unique(sought.flatMap(({ literals }) => literals)),
    expressions: unique([...sought, ...theirs.slice(0, connect)].flatMap(({ expressions }) => expressions)),
  };
}

/** The names and texts in one source. Guesses header names only in our own sources. */
export function soughtIn(text: string, whose: "ours" | "theirs" = "ours"): Sought {
  const headers: string[] = [];
  const literals: string[] = [];
  const expressions: string[] = [];
  let isDynamic = false;
  const words: string[] = [];
  const called = new Set<unknown>();
  walk(parseAst(text, { lang: whose === "ours" ? "ts" : "js" }) as unknown as Node, (node) => {
    const string = textOf(node);
    if (string !== undefined) words.push(string.toLowerCase());
    if (node.type === "Literal" && isNode(node["regex"], "pattern")) expressions.push(String(node["regex"]["pattern"]));
    if (node.type === "MemberExpression" && isHeaders(node["object"]) && !called.has(node)) {
      const names = namesIn(node);
      headers.push(...names);
      isDynamic ||= node["computed"] === true && names.length === 0;
    }
    if (node.type === "VariableDeclarator" && isHeaders(node["init"])) headers.push(...namesOfPattern(node["id"]));
    if (node.type === "CallExpression") {
      called.add(node["callee"]);
      const [first] = node["arguments"] as Node[];
      const name = calledName(node["callee"] as Node);
      const sent = first === undefined ? undefined : textOf(first);
      if (name === "header" || name === "headers.get") {
        if (sent === undefined) isDynamic = true;
        else headers.push(sent);
      } else if (sent !== undefined && searching.has(name.split(".").at(-1) ?? "")) literals.push(sent);
    }
    // Libraries declare, for example, `export const headerTimeout = "Connect-Timeout-Ms"`.
    if (node.type === "VariableDeclarator" && /^header[A-Z]/.test(String((node["id"] as Node)["name"]))) {
      const value = isNode(node["init"], "type") ? textOf(node["init"] as Node) : undefined;
      if (value !== undefined) headers.push(value);
    }
    if (node.type === "BinaryExpression" && comparing.has(String(node["operator"])))
      literals.push(...[node["left"], node["right"]].flatMap((side) => textOf(side as Node) ?? []));
  });
  if (isDynamic && whose === "ours") headers.push(...words.filter((word) => headerName.test(word)));
  return {
    headers: unique(headers.map((name) => name.toLowerCase()).filter((name) => /^:?[a-z][a-z0-9-]*$/.test(name))),
    literals: unique(literals.filter((literal) => literal.length > 0 && literal.length <= 60)),
    expressions: unique(expressions),
  };
}

function walk(node: Node, visit: (node: Node) => void): void {
  visit(node);
  for (const member of Object.values(node)) {
    for (const one of Array.isArray(member) ? (member as unknown[]) : [member])
      if (isNode(one, "type")) walk(one as Node, visit);
  }
}

function isNode(value: unknown, member: string): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && member in value;
}

/** The text of a literal. */
function textOf(node: Node): string | undefined {
  if (node.type === "Literal" && typeof node["value"] === "string") return node["value"];
  return undefined;
}

function isHeaders(value: unknown): boolean {
  if (!isNode(value, "type")) return false;
  const { name, property } = value;
  return value["type"] === "Identifier"
    ? name === "headers"
    : isNode(property, "name") && property["name"] === "headers";
}

/** The names in an access to `headers`; several for a conditional expression. */
function namesIn({ computed, property }: Node): string[] {
  if (computed !== true) return [String((property as Node)["name"])];
  const names: string[] = [];
  walk(property as Node, (node) => names.push(...(textOf(node) === undefined ? [] : [textOf(node) ?? ""])));
  return names.filter((name) => headerName.test(name) || /^[a-z]+$/.test(name));
}

function namesOfPattern(pattern: unknown): string[] {
  if (!isNode(pattern, "properties")) return [];
  return (pattern["properties"] as Node[]).flatMap(({ key }) => (isNode(key, "name") ? [String(key["name"])] : []));
}

/** `split` for `text.split(…)`, `headers.get` for `request.headers.get(…)`. */
function calledName(callee: Node): string {
  if (callee.type === "Identifier") return String(callee["name"]);
  if (callee.type !== "MemberExpression" || callee["computed"] === true) return "";
  const name = String((callee["property"] as Node)["name"]);
  return isHeaders(callee["object"]) ? `headers.${name}` : name;
}

/** The paths of a package's modules. */
function filesOf(name: string, which = /\.m?js$/): string[] {
  const entry = createRequire(import.meta.url).resolve(name);
  const folder = join(entry.slice(0, entry.lastIndexOf(name) + name.length), "dist");
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => which.test(file) && !dirname(file).startsWith("cjs"))
    .map((file) => join(folder, file));
}

function unique(all: readonly string[]): string[] {
  return [...new Set(all)];
}
