// The sources of the guide: the Markdown files of docs, in the order of the index.
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { packageRoot } from "../root.ts";

/** A page as it is written. */
export interface Source {
  /** The last segment of its path; empty for the index. */
  readonly name: string;
  /** Its name in the navigation. */
  readonly title: string;
  /** The group of the navigation that it belongs to. */
  readonly group: string;
  readonly markdown: string;
}

/** All files of the guide. */
export interface Sources {
  readonly pages: readonly Source[];
  /** The diagrams, by file name. */
  readonly diagrams: ReadonlyMap<string, Buffer>;
}

const folder = join(packageRoot, "docs");
const indexFile = "README.md";
const indexTitle = "What Records is";

/** Reads all of them. Fails where one cannot be read. */
export async function readSources(): Promise<Sources> {
  const index = await readFile(join(folder, indexFile), "utf8");
  const listed = listedIn(index);
  const rest = await Promise.all(
    listed.map(async ({ file, ...entry }) => ({
      ...entry,
      name: file.replace(/\.md$/, ""),
      markdown: await readFile(join(folder, file), "utf8"),
    })),
  );
  const names = await readdir(join(folder, "diagrams"));
  const diagrams = names
    .filter((name) => name.endsWith(".svg"))
    .map(async (name) => [name, await readFile(join(folder, "diagrams", name))] as const);
  const first = { name: "", title: indexTitle, group: listed[0]?.group ?? "", markdown: index };
  return { pages: [first, ...rest], diagrams: new Map(await Promise.all(diagrams)) };
}

/** The pages that the index lists, in their order, each with the heading above it. */
export function listedIn(index: string): { file: string; title: string; group: string }[] {
  let group = "";
  return index.split("\n").flatMap((line) => {
    group = /^## (.+)$/.exec(line)?.[1] ?? group;
    const [, title, file] = /^- \[([^\]]+)\]\(([\w-]+\.md)\)/.exec(line) ?? [];
    return title === undefined || file === undefined ? [] : [{ file, title, group }];
  });
}
