// Files of the reference page: Scalar's renderer, unchanged from its package, and our own script and style.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { HashedFile } from "../http/static-files.ts";
import { staticFile } from "../http/static-files.ts";
import { packageRoot } from "../process/root.ts";

/** The files of the page. */
export type Assets = Readonly<Record<"renderer" | "start" | "style", HashedFile>>;

/** The path of the folder that contains all of the files. */
export const assetFolder = "/docs/";

const page = join(packageRoot, "src/reference/page");

/** Reads all files (4 MB). Rejects if one cannot be read. */
export async function readAssets(): Promise<Assets> {
  // Only the file is used, because the package's own code serves another web framework.
  const scalar = createRequire(import.meta.url).resolve("@scalar/fastify-api-reference");
  const [renderer, start, style] = await Promise.all([
    readAsset("renderer.js", join(scalar, "../js/standalone.js")),
    readAsset("start.js", join(page, "start.js")),
    readAsset("reference.css", join(page, "reference.css")),
  ]);
  return { renderer, start, style };
}

async function readAsset(name: string, path: string): Promise<HashedFile> {
  const file = staticFile(name, await readFile(path));
  return { ...file, path: `${assetFolder}${file.hash}/${name}` };
}
