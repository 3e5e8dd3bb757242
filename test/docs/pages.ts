// The pages of the guide, taken apart: their fenced blocks, headings, links, and what they name in code.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

export const root = join(import.meta.dirname, "../..");

/** A fenced block of a page. */
export interface Block {
  readonly language: string;
  readonly text: string;
  /** Where its fence is in the page, counted from 1. */
  readonly line: number;
}

/** A page of the guide, or another page of prose. */
export interface Page {
  /** From the root of the repository. */
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
  /** The page without its blocks. */
  readonly prose: string;
}

/** A command of a console block, and what is under it. */
export interface Shown {
  readonly command: string;
  readonly output: readonly string[];
}

export function readPage(path: string): Page {
  const text = readFileSync(join(root, path), "utf8");
  const fences = [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)];
  const blocks = fences.map(({ 1: language = "", 2: body = "", index }) => ({
    language,
    text: body,
    line: text.slice(0, index).split("\n").length,
  }));
  return { path, text, blocks, prose: text.replace(/^```(\w*)\n([\s\S]*?)^```$/gm, "") };
}

export const guide: readonly Page[] = readdirSync(join(root, "docs"))
  .filter((name) => name.endsWith(".md"))
  .sort()
  .map((name) => readPage(`docs/${name}`));

/** The commands of a console block: `$ ` begins one, `> ` continues with it, anything else is what it prints. */
export function shownIn({ text }: Block): Shown[] {
  const shown: { command: string; output: string[] }[] = [];
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const last = shown.at(-1);
    if (line.startsWith("$ ")) shown.push({ command: line.slice(2), output: [] });
    else if (/^>( |$)/.test(line) && last !== undefined && last.output.length === 0)
      last.command += `\n${line.slice(2)}`;
    else if (last === undefined) throw new Error(`a console block begins with what is no command: ${line}`);
    else last.output.push(line);
  }
  return shown;
}

/** What is written as code within the prose. */
export function codeOf({ prose }: Page): string[] {
  return [...prose.matchAll(/(`+)(.+?)\1/g)].map(([, , code = ""]) => code);
}

/** The anchors of a page's headings, as GitHub makes them. */
export function anchorsOf({ prose }: Page): Set<string> {
  const seen = new Map<string, number>();
  return new Set(
    [...prose.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = ""]) => {
      const slug = heading
        .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
        .trim()
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\p{M}\p{Pc}\- ]/gu, "")
        .replaceAll(" ", "-");
      const count = seen.get(slug) ?? 0;
      seen.set(slug, count + 1);
      return count === 0 ? slug : `${slug}-${count}`;
    }),
  );
}
