// Prefetches the tools that tests take from registries into the user's cache folder, while the first tests run, so that
// no test waits for a download.
import { pathToFileURL } from "node:url";
import { testCacheDir } from "../fixtures/databases/cache-dir.ts";
import { clientKinds } from "../../scripts/mcp-clients/kinds.ts";
import { labelOf, whyLeftOut } from "../../scripts/mcp-clients/run.ts";
import {
  checkJsonschema,
  kubernetesValidate,
  openapiPythonClient,
  pythonTool,
  schemathesis,
} from "../../scripts/python-tool.ts";
import { missingForJava } from "../../scripts/generated-clients/openapi-generator.ts";
import { fetchRunner } from "../mcp/conformance/runner.ts";
import { fetchHydra, missingForHydra } from "../fixtures/providers/hydra.ts";
import { fetchKeycloak } from "../fixtures/providers/keycloak.ts";
import { isLong } from "./form.ts";

/** A tool, and how to fetch it. `fetch` returns or throws the reason if it cannot. */
export interface FetchedTool {
  readonly name: string;
  /** Whether only the long form needs it. */
  readonly ofLong?: boolean;
  readonly fetch: (cacheDir: string) => unknown;
}

/** Every tool of a test run, in the order of use. */
export const fetchedTools: readonly FetchedTool[] = [
  { name: "the conformance suite", fetch: (cacheDir) => void fetchRunner(cacheDir) },
  ...clientKinds
    .filter(({ isShort }) => isShort)
    .map((kind) => ({
      name: labelOf(kind),
      ofLong: true,
      fetch: (cacheDir: string) => whyLeftOut(kind, cacheDir),
    })),
  { name: "Keycloak", ofLong: true, fetch: (cacheDir) => missingForJava() ?? void fetchKeycloak(cacheDir) },
  { name: "Ory Hydra", ofLong: true, fetch: (cacheDir) => missingForHydra() ?? void fetchHydra(cacheDir) },
  ...[kubernetesValidate, checkJsonschema, schemathesis, openapiPythonClient].map((tool) => ({
    name: tool.project,
    ofLong: true,
    fetch: (cacheDir: string) => void pythonTool(tool, cacheDir),
  })),
];

/** Fetches the tools in sequence. Failures are reported; the tests that need the tool then fail. */
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
