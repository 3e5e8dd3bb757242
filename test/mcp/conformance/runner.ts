// Finds the official conformance runner, which is no dependency of ours: it wants a newer Node than we do.
import * as fs from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** Its program, where it is installed and this Node can run it (it takes globSync out of node:fs). */
export function findRunner(): string | undefined {
  if (!("globSync" in fs)) return undefined;
  try {
    const manifest = createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json");
    return join(dirname(manifest), "dist", "index.js");
  } catch {
    return undefined;
  }
}

/** What to say where there is none. */
export const withoutRunner =
  "The official MCP conformance runner is not here: its tests (test/mcp/conformance) are LEFT OUT. They want Node 22 or later, and `npm install --no-save @modelcontextprotocol/conformance@0.2.0-alpha.12`.";
