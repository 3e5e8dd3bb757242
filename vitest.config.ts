// How the tests run: real servers, so few files at a time, and time for slow machines.
import { configDefaults, defineConfig } from "vitest/config";
import { leftOut } from "./test/support/left-out.ts";
import { LongestFirst } from "./test/support/longest-first.ts";
import { keepTemporaryFilesInMemory } from "./test/support/memory-folder.ts";

keepTemporaryFilesInMemory(process.env);

/** What checks the service's deadlines, or accepts no 503 of a starved database: two at a time, and nothing else. */
const waiting = ["drills/redis-groups", "drills/upgrade", "faults/broken-connections"].map(
  (name) => `test/${name}.test.ts`,
);
/** What measures times: one by one, after all other tests. */
const timed = ["hostile", "overload", "soak", "starvation"].map((name) => `test/drills/${name}.test.ts`);
/** What starts many processes or keeps a processor busy. */
const busy = [
  ...[
    "drills/*",
    "browser/*",
    "schemathesis/*",
    "generated-clients/*",
    "alerts/mutants",
    "api-keys/rotation",
    // It has a mongod of its own, and requires that each request succeeds.
    "cost/every-operation",
    "bench/bench",
    "mcp/clients/clients",
    "deploy/proxy/*",
  ],
  "ingest/bulk",
].map((name) => `test/${name}.test.ts`);
const exclude = [...configDefaults.exclude, ...leftOut.flatMap(({ files }) => files ?? [])];

export default defineConfig({
  test: {
    globalSetup: ["test/support/global-setup.ts"],
    setupFiles: ["test/support/enum-names.ts", "test/support/one-slot.ts", "test/support/one-shard.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: "forks",
    // Each worker loads and compiles the service once for all of its files.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: "suite",
          include: ["test/**/*.test.ts"],
          exclude: [...exclude, ...busy, ...waiting],
          // Most of a test's time is waiting: for a server to start, a deadline to pass.
          maxWorkers: 4,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: "busy",
          include: busy,
          exclude: [...exclude, ...waiting, ...timed],
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: { name: "waiting", include: waiting, exclude, maxWorkers: 2, sequence: { groupOrder: 2 } },
      },
      {
        extends: true,
        test: { name: "timed", include: timed, exclude, maxWorkers: 1, sequence: { groupOrder: 3 } },
      },
    ],
  },
});
