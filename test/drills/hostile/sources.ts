// Extracts what the service looks for in requests from its sources: the names of headers, and literals.
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/** Names and texts that the sources read or compare. */
export interface Sought {
  /** Names of request headers that are read, in lowercase. */
  readonly headers: readonly string[];
  /** Literals that text is split by, searched for or compared with. */
  readonly literals: readonly string[];
}

const root = join(import.meta.dirname, "../../..");
/** Code that requests do not reach: generated tables, command line, embedded servers, browser scripts. */
const unreached = /^src\/(?:gen|cli|embedded)\/|\/page\/|^gateway\/plugin\/|\.d\.ts$/;
const literal =
  /(?:[!=]==|\.(?:split|indexOf|lastIndexOf|includes|startsWith|endsWith|replace|replaceAll)\() ?"([^"\\\n]+)"/g;
/** A member of `headers`, a call of `header`, or a library's constant such as `headerTimeout`. */
const readHeader =
  /\bheaders\.(?:get\(")?([\w-]+)\b(?!\()|\bheaders\["([\w:-]+)"\]|\bheader(?:[A-Z]\w* =|\() ?"([\w-]+)"/g;
const destructured = /\{ ([\w, ]+) \} = (?:\w+\.)?headers\b/g;
/** A file that reads headers by names in variables, and what such a name looks like. */
const isDynamic = /\bheaders?(?:\[|\.get\(|\()[a-z]/;
const headerName = /"([a-z][a-z0-9]*(?:-[a-z0-9]+)+)"/g;
/** Headers that Node's HTTP implementation reads. */
const readByNode = [
  ...["connection", "content-length", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"],
  ...[":authority", "cookie", "user-agent", "http2-settings", "proxy-connection", "set-cookie"],
];

/** The names and texts of the service, and the headers that its libraries and Node read. */
export function readSought(): Sought {
  const own = ["src", "gateway"].flatMap((folder) =>
    textsIn(join(root, folder), (name) => name.endsWith(".ts") && !unreached.test(`${folder}/${name}`)),
  );
  const libraries = [
    ...modulesOf("@connectrpc/connect", /protocol.*\/[\w-]+\.js$/),
    ...modulesOf("@modelcontextprotocol/server", /\.m?js$/),
  ];
  const headers = [
    ...[...own, ...libraries].flatMap((text) => found(text, readHeader)),
    ...own.flatMap((text) => found(text, destructured).flatMap((names) => names.split(/, ?/))),
    ...own.filter((text) => isDynamic.test(text)).flatMap((text) => found(text, headerName)),
  ];
  return {
    headers: [...new Set([...readByNode, ...headers.map((name) => name.toLowerCase())])],
    literals: [...new Set(own.flatMap((text) => found(text, literal)))],
  };
}

function found(text: string, form: RegExp): string[] {
  return [...text.matchAll(form)].flatMap((groups) => groups.slice(1).filter((group) => group !== undefined));
}

function textsIn(folder: string, isWanted: (name: string) => boolean): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter(isWanted)
    .map((name) => readFileSync(join(folder, name), "utf8"));
}

function modulesOf(name: string, which: RegExp): string[] {
  const entry = createRequire(import.meta.url).resolve(name);
  const folder = join(entry.slice(0, entry.lastIndexOf(name) + name.length), "dist");
  return textsIn(folder, (file) => which.test(file) && !file.startsWith("cjs"));
}
