// Fetches what the tests take from registries into the user's cache folder, for a run that has all of it ahead: the
// downloads wait during the first tests, and no test waits for its own.
import { pathToFileURL } from "node:url";
import { testCacheDir } from "../fixtures/databases/cache-dir.ts";
import { clientKinds } from "../../scripts/mcp-clients/kinds.ts";
import { labelOf, whyLeftOut } from "../../scripts/mcp-clients/run.ts";
import type { PythonTool } from "../../scripts/python-tool.ts";
import {
  checkJsonschema,
  kubernetesValidate,
  openapiPythonClient,
  pythonTool,
  schemathesis,
} from "../../scripts/python-tool.ts";
import { fetchRunner } from "../mcp/conformance/runner.ts";
import { isLong } from "./form.ts";

/** A tool, and how it is fetched; `fetch` returns or throws why it cannot be. */
export interface FetchedTool {
  readonly name: string;
  /** Whether only the long form needs it. */
  readonly ofLong?: boolean;
  readonly fetch: (cacheDir: string) => unknown;
}

const python = (tool: PythonTool): FetchedTool => ({
  name: tool.project,
  fetch: (cacheDir) => void pythonTool(tool, cacheDir),
});

/** Every tool of the tests' own run, in the order in which they need them. */
export const fetchedTools: readonly FetchedTool[] = [
  { name: "the conformance suite", fetch: (cacheDir) => void fetchRunner(cacheDir) },
  ...[kubernetesValidate, checkJsonschema].map(python),
  ...clientKinds
    .filter(({ isShort }) => isShort)
    .map((kind) => ({
      name: labelOf(kind),
      ofLong: true,
      fetch: (cacheDir: string) => whyLeftOut(kind, cacheDir),
    })),
  ...[schemathesis, openapiPythonClient].map((tool) => ({ ...python(tool), ofLong: true })),
];

/** Fetches one after the other. A failure is reported, and the test that needs the tool fails. */
export function fetchTools(tools: readonly FetchedTool[], cacheDir: string, say: (line: string) => void): void {
  for (const { name, fetch } of tools) {
    try {
      const missing = fetch(cacheDir);
      if (missing !== undefined) say(`${name} cannot be fetched: ${String(missing)}`);
    } catch (error) {
      say(`${name} cannot be fetched: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href)
  fetchTools(
    fetchedTools.filter(({ ofLong }) => isLong || ofLong !== true),
    testCacheDir(),
    console.log,
  );
