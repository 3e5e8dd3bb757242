// The order of the test files: the longest first, so that no worker is left with one of them at the end.
import { relative } from "node:path";
import type { TestSpecification } from "vitest/node";
import { BaseSequencer } from "vitest/node";

/**
 * Files of more than about half a minute. The first takes four minutes of both processors, so what runs beside it is no
 * drill; then come the drills, and the others by their time. Vitest orders all other files, by their sizes.
 */
export const longest: readonly string[] = [
  "faults/broken-connections",
  "alerts/mutants",
  "ingest/bulk",
  "schemathesis/short",
  "api-keys/rotation",
  "browser/reference",
  "drills/maintenance",
  "drills/histories",
  "drills/bulk-erasure",
  "drills/kills",
  "drills/upgrade",
  "bench/bench",
  "drills/isolation",
  "browser/dashboard",
  "cli/migrate",
  "mcp/oauth/session-end",
  "rpc/deadlines",
  "cli/import",
  "mcp/oauth/sign-out",
  "drills/sign-out",
  "drills/dependencies",
  "mcp/oauth/keys",
  "drills/bulk-import",
  "observability/request-line",
  "db/undone",
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
export function placeOf(path: string): number {
  const place = longest.indexOf(path.replace(/^test\//, "").replace(/\.test\.ts$/, ""));
  return place === -1 ? longest.length : place;
}
