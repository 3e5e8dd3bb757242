// An instance with one part broken: a module that is changed while it is loaded, in a child process and nowhere else.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { join } from "node:path";
import type { Control, Report, RunOptions, Say } from "../drill.ts";

/** One change of one source file. */
export interface Break {
  /** Its path from the root of the repository. */
  readonly file: string;
  /** The text that is replaced: it has to occur there exactly once. */
  readonly from: string;
  readonly to: string;
}

const root = join(import.meta.dirname, "..", "..");

/** Settings of a child that runs with changed sources. */
export interface Build extends Readonly<Record<string, string>> {
  readonly NODE_OPTIONS: string;
}

/** How often the text to be replaced occurs in its file. */
export function occurrences({ file, from }: Break): number {
  return readFileSync(join(root, file), "utf8").split(from).length - 1;
}

/** A control of a drill that runs with these changes. */
export function brokenControl(
  broken: string,
  breaks: readonly Break[],
  run: (build: Build, say: Say, options?: RunOptions) => Promise<Report>,
): Control {
  return { broken, breaks, run: (_form, say, options) => run(brokenBuild(...breaks), say, options) };
}

/** The settings of a child that runs with these changes. Throws if a text does not occur exactly once. */
export function brokenBuild(...breaks: readonly Break[]): Build {
  const changes = breaks.map((change) => {
    const { file, from, to } = change;
    const found = occurrences(change);
    if (found !== 1) throw new Error(`${file} holds ${found} times what is to be broken: ${from}`);
    return { url: pathToFileURL(join(root, file)).href, from, to };
  });
  // Plain JavaScript in a URL: it is loaded before anything that reads TypeScript.
  const hooks = `const changes = ${JSON.stringify(changes)};
    export async function load(url, context, next) {
      const loaded = await next(url, context);
      const due = changes.filter((change) => url.split("?")[0] === change.url);
      if (due.length === 0) return loaded;
      return { ...loaded, source: due.reduce((text, { from, to }) => text.replace(from, () => to), String(loaded.source)) };
    }`;
  const start = `import { register } from "node:module"; register(${JSON.stringify(dataUrl(hooks))});`;
  return { NODE_OPTIONS: `--import ${dataUrl(start)}` };
}

function dataUrl(script: string): string {
  return `data:text/javascript;base64,${Buffer.from(script).toString("base64")}`;
}
