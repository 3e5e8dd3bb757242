// Renders the guide: every page, with its files and its search index.
import { readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Pages } from "../http/pages.ts";
import type { HashedFile } from "../http/static-files.ts";
import { staticFile } from "../http/static-files.ts";
import { packageRoot } from "../process/root.ts";
import type { Rendered, Targets } from "./markdown.ts";
import { renderMarkdown } from "./markdown.ts";
import { guidePage, pathOfPage } from "./page.ts";
import type { Source } from "./source.ts";
import { readSources } from "./source.ts";

/** An entry of the search index: page, heading, path with anchor, text. */
type Entry = readonly [page: string, heading: string, path: string, text: string];

const ownFiles = join(packageRoot, "src/guide/page");

/**
 * Reads and renders the sources. `baseUrl` replaces the address in the samples, so that users can run them as shown.
 * Fails if a source cannot be read.
 */
export async function openGuide(baseUrl: string): Promise<Pages> {
  const [{ pages: written, diagrams }, style, script] = await Promise.all([
    readSources(),
    readFile(join(ownFiles, "guide.css")),
    readFile(join(ownFiles, "guide.js")),
  ]);
  const pages = written.map((page) => ({ ...page, markdown: withAddress(page.markdown, baseUrl) }));
  const shown = [...diagrams].map(([name, body]) => hashed(name, body));
  const fixed = { style: hashed("guide.css", style), script: hashed("guide.js", script) };
  const targetsOf = (page: Source): Targets => ({
    page(href) {
      const file = posix.join(posix.dirname(page.file), href);
      const found = pages.find((one) => one.file === file);
      return found && pathOfPage(found);
    },
    diagram: (name) => shown.find(({ path }) => path.endsWith(`/${name}`))?.path,
  });
  const rendered: (readonly [Source, Rendered])[] = [];
  for (const page of pages) {
    rendered.push([page, renderMarkdown(page.markdown, targetsOf(page))]);
    // Yields to other requests, which rendering all pages at once would delay.
    await setImmediate();
  }
  const entries = rendered.flatMap(([page, { sections }]) => sections.map((section) => entryOf(page, section)));
  const index = hashed("search.json", Buffer.from(JSON.stringify(entries)));
  const files = [fixed.style, fixed.script, index, ...shown];
  const paths = { style: fixed.style.path, script: fixed.script.path, index: index.path };
  const frame = { pages, files: paths };
  const documents = new Map(rendered.map(([page, { content }]) => [pathOfPage(page), guidePage(page, content, frame)]));
  return { page: (path) => documents.get(path), file: (path) => files.find((file) => file.path === path) };
}

function entryOf(page: Source, { heading, anchor, text }: Rendered["sections"][number]): Entry {
  return [page.title, heading, `${pathOfPage(page)}#${anchor}`, text];
}

function hashed(name: string, body: Buffer): HashedFile {
  const file = staticFile(name, body);
  return { ...file, path: `/guide/${file.hash}/${name}` };
}

/** Replaces the default address in the samples with the address of this service. */
function withAddress(markdown: string, baseUrl: string): string {
  const { protocol, host } = new URL(baseUrl);
  return markdown
    .replaceAll("http://localhost:8080", baseUrl)
    .replaceAll("localhost:8080", protocol === "http:" && baseUrl.endsWith(host) ? host : baseUrl);
}
