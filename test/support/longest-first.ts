// The order of the test files: the longest first, so that no worker is left with one of them at the end.
import { relative } from "node:path";
import type { TestSpecification } from "vitest/node";
import { BaseSequencer } from "vitest/node";

/** Files of about 20 seconds or more, by their time. Vitest orders all other files, by their sizes. */
const longest: readonly string[] = [
  "faults/broken-connections",
  "drills/histories",
  "alerts/mutants",
  "drills/bulk-erasure",
  "bench/bench",
  "rpc/deadlines",
  "mcp/oauth/session-end",
  "schemathesis/short",
  "mcp/clients/clients",
  "browser/dashboard",
  "browser/dashboard-states",
  "ingest/bulk",
  "drills/upgrade",
  "drills/kills",
  "browser/reference",
  "cli/migrate",
  "observability/request-failure",
  "cli/import",
  "cli/import-continued",
  "drills/isolation",
  "sign-in/sign-out",
  "mcp/oauth/sign-out",
  "drills/dependencies",
  "db/aggregate",
  "sign-in/provider-unavailable",
  "embedded/credentials",
  "accounts/erasure",
  "drills/limiter",
  "drills/bulk-import",
  "db/undone",
  "docs/snippets",
  "mcp/oauth/keys",
  "app/main-settings",
];

/** Sorts the files of a run. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted
      .map((file) => ({ file, place: placeOf(relative(file.project.config.root, file.moduleId)) }))
      .sort((one, other) => one.place - other.place)
      .map(({ file }) => file);
  }
}

/** The place of a file in the list; behind all of it for the others, which stay as they are. */
function placeOf(path: string): number {
  const place = longest.indexOf(path.replace(/^test\//, "").replace(/\.test\.ts$/, ""));
  return place === -1 ? longest.length : place;
}
