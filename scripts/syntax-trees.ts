// Loads the syntax trees and types of TypeScript projects, for rules about the code.
import { API } from "typescript/unstable/sync";
import type { Checker } from "typescript/unstable/sync";
import type { FileSystem } from "typescript/unstable/fs";
import { isNoSubstitutionTemplateLiteral, isStringLiteral } from "typescript/unstable/ast";
import type { Node, NoSubstitutionTemplateLiteral, SourceFile, StringLiteral } from "typescript/unstable/ast";
import { readdirSync } from "node:fs";
import { basename, dirname, relative, resolve } from "node:path";

/** One file of a project. */
export interface Tree {
  /** Relative to the root. */
  readonly path: string;
  readonly file: SourceFile;
  readonly checker: Checker;
}

/**
 * Calls `check` once for every file of the projects whose path begins with one of the folders. `texts` are in-memory
 * files by path, which the projects contain in addition to the others.
 */
export function withTrees<T>(
  root: string,
  projects: readonly string[],
  folders: readonly string[],
  check: (trees: readonly Tree[]) => T,
  texts: ReadonlyMap<string, string> = new Map(),
): T {
  const api = new API({ cwd: root, ...(texts.size > 0 && { fs: filesBeside(root, texts) }) });
  try {
    const snapshot = api.updateSnapshot({ openProjects: projects.map((project) => resolve(root, project)) });
    const trees = new Map<string, Tree>();
    for (const { program, checker } of snapshot.getProjects()) {
      for (const name of program.getSourceFileNames()) {
        const path = relative(root, name);
        if (path.includes("node_modules") || !folders.some((folder) => path.startsWith(folder)) || trees.has(path))
          continue;
        const file = program.getSourceFile(name);
        if (file !== undefined) trees.set(path, { path, file, checker });
      }
    }
    return check([...trees.values()]);
  } finally {
    api.close();
  }
}

/** Falls back to the disk for a path that is not in `texts`. */
function filesBeside(root: string, texts: ReadonlyMap<string, string>): FileSystem {
  const files = new Map([...texts].map(([path, text]) => [resolve(root, path), text]));
  const folders = new Map<string, string[]>();
  for (const path of files.keys()) folders.set(dirname(path), [...(folders.get(dirname(path)) ?? []), basename(path)]);
  return {
    readFile: (path) => files.get(path),
    fileExists: (path) => files.has(path) || undefined,
    getAccessibleEntries(path) {
      const more = folders.get(path);
      if (more === undefined) return undefined;
      const present = readdirSync(path, { withFileTypes: true });
      return {
        files: [...present.filter((entry) => entry.isFile()).map(({ name }) => name), ...more],
        directories: present.filter((entry) => entry.isDirectory()).map(({ name }) => name),
      };
    },
  };
}

/** Looks up many nodes in the checker at once: one by one takes ten times as long. */
export function lookUpAll<T>(
  nodes: readonly Node[],
  lookUp: (nodes: readonly Node[]) => readonly (T | undefined)[],
): ReadonlyMap<Node, T> {
  const results = new Map<Node, T>();
  const lookUpSome = (some: readonly Node[]): void => {
    if (some.length === 0) return;
    try {
      for (const [at, result] of lookUp(some).entries())
        if (result !== undefined) results.set(some[at] as Node, result);
    } catch {
      // TypeScript 7.0 cannot describe the types of a few nodes, and then fails the whole request.
      if (some.length > 1) for (const half of halves(some)) lookUpSome(half);
    }
  };
  lookUpSome(nodes);
  return results;
}

function halves<T>(all: readonly T[]): readonly (readonly T[])[] {
  return [all.slice(0, all.length >> 1), all.slice(all.length >> 1)];
}

/** Calls `visit` with a node and everything under it. */
export function walk(node: Node, visit: (node: Node) => void): void {
  visit(node);
  node.forEachChild((child) => {
    walk(child, visit);
    return undefined;
  });
}

/** Whether a node is a string literal without substitutions. */
export function isPlainText(node: Node): node is StringLiteral | NoSubstitutionTemplateLiteral {
  return isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node);
}

/** The line of a node, counted from 1. */
export function lineOf({ text }: SourceFile, node: Node): number {
  return text.slice(0, node.end).split("\n").length;
}
