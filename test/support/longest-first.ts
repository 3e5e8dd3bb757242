// Orders test files longest first, so that no worker is left with a long one at the end.
import { relative } from "node:path";
import type { TestSpecification } from "vitest/node";
import { BaseSequencer } from "vitest/node";

/** Files that take about 12 seconds or more, by duration. Vitest orders all others by size. */
const longest: readonly string[] = [
  "faults/broken-connections",
  "drills/histories",
  "drills/erasure",
  "bench/bench",
  "schemathesis/short",
  "mcp/clients/clients",
  "browser/dashboard",
  "browser/dashboard-states",
  "ingest/bulk",
  "drills/upgrade",
  "drills/kills",
  "browser/reference",
  "mcp/oauth/sign-out",
  "search/oracle",
  "backup/mutations",
  "sign-in/mongodb-unavailable",
  "contacts/search",
  "sign-in/provider-unavailable",
  "ingest/in-sequence",
  "notes/search",
  "mcp/tools/bounds",
  "db/undone",
  "cli/migrate",
  "cli/import",
  "cli/import-continued",
  "app/main",
  "guards/unreadable",
  "idempotency/in-flight",
  "app/main-settings",
  "observability/request-failure",
  "drills/isolation",
  "drills/dependencies",
  "guards/redis-unavailable",
  "accounts/erasure",
  "drills/limiter",
  "docs/snippets",
];

/** Sorts the test files of a run. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted
      .map((file) => ({ file, place: placeOf(relative(file.project.config.root, file.moduleId)) }))
      .sort((one, other) => one.place - other.place)
      .map(({ file }) => file);
  }
}

/** The index of a file in the list. All others come after it and keep their order. */
function placeOf(path: string): number {
  const place = longest.indexOf(path.replace(/^test\//, "").replace(/\.test\.ts$/, ""));
  return place === -1 ? longest.length : place;
}
