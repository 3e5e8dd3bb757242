// The rooms of the repository: who may import whom.
import { programRooms } from "./program-rooms.ts";
import type { Room } from "./service-rooms.ts";
import { domain, serviceRooms } from "./service-rooms.ts";

/** What every test may import. */
export const tested = ["test/", "fixtures/", "scripts/", "client/src/", "gateway/", "src/"];

/** The first room whose path a file begins with is its own. */
export const rooms: readonly Room[] = [
  ...serviceRooms,
  [
    "src/backup/",
    domain(
      "src/backup/",
      "src/large/",
      "src/deflated.ts",
      "src/accounts/",
      "src/api-keys/",
      "src/audit/",
      "src/contacts/",
      "src/sign-in/ended-store.ts",
      "src/switches/",
      "src/guards/internal.ts",
      "src/guards/representable.ts",
      "src/guards/stream.ts",
      "src/ingest/",
      "src/notes/",
      "src/sessions/",
    ),
  ],
  ...programRooms,
  [
    "src/guide/",
    [
      "src/guide/",
      "src/root.ts",
      "src/html.ts",
      "src/call/exchange.ts",
      "src/http/pages.ts",
      "src/http/static-files.ts",
    ],
  ],
  ["src/services.ts", ["src/"]],
  ["src/background.ts", ["src/services.ts", "src/db/"]],
  ["src/app/", ["src/", "gateway/"]],
  ["src/app.ts", ["src/"]],
  ["src/banner.ts", ["src/embedded/dependencies.ts"]],
  ["src/main.ts", ["src/"]],
  [
    "src/cli/doctor/",
    [
      "src/cli/",
      "src/innermost-code.ts",
      "src/loopback.ts",
      "src/open-files.ts",
      "src/time-limit.ts",
      "src/gen/",
      "src/config-error.ts",
      "src/config.ts",
      "src/redis-url.ts",
      "src/services.ts",
      "src/secret-files.ts",
      "src/db/mongo.ts",
      "src/db/indexes.ts",
      "src/db/collections.ts",
      "src/db/redis-code.ts",
      "src/db/sharding.ts",
      "src/sign-in/",
      "src/embedded/running.ts",
    ],
  ],
  [
    "src/cli/migrate-actions.ts",
    ["src/cli/", "src/services.ts", "src/logged-error.ts", "src/db/", "src/embedded/running.ts"],
  ],
  ["src/cli/shard-actions.ts", ["src/db/sharding.ts"]],
  ["src/cli/token-actions.ts", ["src/cli/", "src/sign-in/bounded-fetch.ts"]],
  [
    "src/cli/",
    [
      "src/cli/",
      "src/signals.ts",
      "src/output-errors.ts",
      "src/loopback.ts",
      "src/secret-files.ts",
      "src/record-kinds.ts",
      "src/text.ts",
      "src/uuid.ts",
      "src/gen/",
      "src/instant.ts",
      "src/observability/release.ts",
      "src/embedded/folder-lock.ts",
      "src/embedded/process-id.ts",
      "gateway/enum-names.ts",
      "gateway/timestamps.ts",
    ],
  ],
  [
    "gateway/plugin/",
    [
      "gateway/plugin/",
      "gateway/integer-bounds.ts",
      "gateway/openapi-settings.ts",
      "gateway/openapi-template.ts",
      "gateway/path-template.ts",
      "gateway/provider-mark.ts",
    ],
  ],
  [
    "gateway/",
    [
      "gateway/",
      "src/text.ts",
      "src/fair-queue.ts",
      "src/gen/",
      "src/errors.ts",
      "src/deflated.ts",
      "src/large/",
      "src/call/",
      "src/instant.ts",
    ],
  ],
  ["client/src/", ["client/src/"]],
  ["examples/", ["examples/", "client/src/index.ts", "src/gen/"]],
  // The code of another commit is loaded from where it was checked out.
  ["fixtures/service/older.ts", ["a computed path"]],
  ["fixtures/", ["fixtures/", "bin/bundle.js", "src/"]],
  ["drills/", ["drills/", "fixtures/", "src/", "gateway/"]],
  ["bench/", ["bench/", "fixtures/", "bin/bundle.js", "src/"]],
  ["evals/", ["evals/", "fixtures/", "src/embedded/demo/records.ts"]],
  ["scripts/mcp-clients/typescript.ts", ["a computed path"]],
  ["scripts/sharding-table.ts", ["src/db/sharding.ts"]],
  ["scripts/", ["scripts/", "drills/bulk/", "fixtures/", "gateway/", "src/cli/", "src/html.ts"]],
  // Tests of drills and of the bench, and the two files that speak of both.
  ["test/drills/", [...tested, "drills/"]],
  ["test/bench/", [...tested, "bench/"]],
  ["test/evals/", [...tested, "evals/"]],
  ["test/support/left-out.ts", [...tested, "drills/upgrade/release.ts"]],
  ["test/rules/groups.test.ts", [...tested, "vitest.config.ts"]],
  ["test/service-user.test.ts", [...tested, "bench/processes.ts"]],
  // What is generated is loaded file by file, and what a test generates from its scratch copy.
  ["test/exercises/add-an-endpoint.ts", ["test/exercises/", "fixtures/", "a computed path"]],
  ["test/faults/broken/operations.ts", [...tested, "a computed path"]],
  ["test/gateway/plugin.test.ts", [...tested, "a computed path"]],
  ["test/", tested],
];

/** What a file imports and may not, by the table. */
export function wrongImports(path: string, targets: readonly string[]): string[] {
  const may = rooms.find(([room]) => path.startsWith(room))?.[1];
  if (may === undefined) return [`${path} is in no room`];
  return targets
    .filter((target) => !may.some((room) => target.startsWith(room)))
    .map((target) => `${path} → ${target}`);
}
