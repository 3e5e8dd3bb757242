// Loads the syntax trees and types of TypeScript projects, for rules about the code.
import { API } from "typescript/unstable/sync";
import type { Checker } from "typescript/unstable/sync";
import type { Node, SourceFile } from "typescript/unstable/ast";
import { relative, resolve } from "node:path";

/** One file of a project. */
export interface Tree {
  /** Relative to the root. */
  readonly path: string;
  readonly file: SourceFile;
  readonly checker: Checker;
}

/** Calls `check` with every file of the projects whose path begins with one of the folders. */
export function withTrees<T>(
  root: string,
  projects: readonly string[],
  folders: readonly string[],
  check: (trees: readonly Tree[]) => T,
): T {
  const api = new API({ cwd: root });
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

/** Calls `visit` with a node and everything under it. */
export function walk(node: Node, visit: (node: Node) => void): void {
  visit(node);
  node.forEachChild((child) => {
    walk(child, visit);
    return undefined;
  });
}

/** The line of a node, counted from 1. */
export function lineOf({ text }: SourceFile, node: Node): number {
  return text.slice(0, node.end).split("\n").length;
}
