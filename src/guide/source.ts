// The sources of the guide: the Markdown files that its index lists, in its order.
import { readFile, readdir } from "node:fs/promises";
import { join, posix } from "node:path";
import { packageRoot } from "../process/root.ts";

/** A page's source. */
export interface Source {
  /** The last segment of the page's path; empty for the index. */
  readonly name: string;
  /** The file, from the root of the repository. */
  readonly file: string;
  /** The title in the navigation. */
  readonly title: string;
  /** The group in the navigation. */
  readonly group: string;
  readonly markdown: string;
}

/** All files of the guide. */
export interface Sources {
  readonly pages: readonly Source[];
  /** The contents of the diagrams, by file name. */
  readonly diagrams: ReadonlyMap<string, Buffer>;
}

const folder = join(packageRoot, "docs");
const indexFile = "README.md";
const indexTitle = "What Records is";

/** Reads all sources. Fails if one cannot be read. */
export async function readSources(): Promise<Sources> {
  const index = await readFile(join(folder, indexFile), "utf8");
  const listed = listedIn(index);
  const rest = await Promise.all(
    listed.map(async ({ file, ...entry }) => ({
      ...entry,
      name: nameOf(file),
      file: posix.join("docs", file),
      markdown: await readFile(join(folder, file), "utf8"),
    })),
  );
  const names = await readdir(join(folder, "diagrams"));
  const diagrams = names
    .filter((name) => name.endsWith(".svg"))
    .map(async (name) => [name, await readFile(join(folder, "diagrams", name))] as const);
  const first = {
    name: "",
    file: `docs/${indexFile}`,
    title: indexTitle,
    group: listed[0]?.group ?? "",
    markdown: index,
  };
  return { pages: [first, ...rest], diagrams: new Map(await Promise.all(diagrams)) };
}

/** Returns the name of a page: that of its file, or of the folder whose README it is. */
function nameOf(file: string): string {
  return posix.basename(file.replace(/\/README\.md$/, ""), ".md").toLowerCase();
}

/** Returns the pages that the index lists, in order, each with the heading above it as its group. */
export function listedIn(index: string): { file: string; title: string; group: string }[] {
  let group = "";
  return index.split("\n").flatMap((line) => {
    group = /^## (.+)$/.exec(line)?.[1] ?? group;
    const [, title, file] = /^- \[([^\]]+)\]\(((?:\.\.\/)?[\w/-]+\.md)\)/.exec(line) ?? [];
    return title === undefined || file === undefined ? [] : [{ file, title, group }];
  });
}
