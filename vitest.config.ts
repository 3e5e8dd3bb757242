// How the tests run: real servers, so few files at a time, and time for slow machines.
import { configDefaults, defineConfig } from "vitest/config";
import { isLong } from "./test/support/form.ts";
import { leftOut } from "./test/support/left-out.ts";
import { longFiles } from "./test/support/long-files.ts";
import { LongestFirst } from "./test/support/longest-first.ts";
import { keepTemporaryFilesInMemory } from "./test/support/memory-folder.ts";

keepTemporaryFilesInMemory(process.env);

const files = (...names: string[]): string[] => names.map((name) => `test/${name}.test.ts`);

/** What starts many processes or keeps a processor busy. */
const busy = files(
  "browser/*",
  "schemathesis/*",
  "generated-clients/*",
  "api-keys/rotation",
  // It has a mongod of its own, and requires that each request succeeds.
  "cost/every-operation",
  // Fifty requests at once, each of which must succeed within its deadline.
  "idempotency/at-once",
  "bench/bench",
  "mcp/clients/clients",
  "deploy/proxy/*",
  "providers/*",
  "ingest/bulk",
  // Three imports of the same records at once.
  "ingest/streams",
);
/** The short forms of the drills (`npm run test:drills`). */
const drills = files("drills/*");
/** What checks the service's deadlines, or accepts no 503 of a starved database: two at a time, and nothing else. */
const waiting = files("drills/redis-groups", "drills/upgrade", "faults/broken-connections");
/** What measures times, or accepts no failed request: one by one, after all other tests. */
const timed = files("drills/hostile", "drills/overload", "drills/soak", "drills/starvation");
const exclude = [
  ...configDefaults.exclude,
  ...leftOut.flatMap(({ files }) => files ?? []),
  ...(isLong ? [] : longFiles),
];

export default defineConfig({
  test: {
    globalSetup: ["test/support/global-setup.ts"],
    setupFiles: ["enum-names", "one-slot", "one-shard", "logged-causes"].map((name) => `test/support/${name}.ts`),
    experimental: { fsModuleCache: true },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: "forks",
    // Each worker loads and compiles the service once for all of its files.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    projects: [
      // Three keep two processors busy. A fourth gains no time, and takes it from requests with a deadline.
      project("suite", 0, 3, ["test/**/*.test.ts"], [...busy, ...drills, ...waiting]),
      project("busy", 1, 2, busy, []),
      project("drills", 2, 2, drills, [...waiting, ...timed]),
      project("drills-waiting", 3, 2, waiting, []),
      project("drills-timed", 4, 1, timed, []),
    ],
  },
});

/** A group of files; the groups run one after the other. */
function project(name: string, groupOrder: number, maxWorkers: number, include: string[], elsewhere: string[]) {
  return {
    extends: true as const,
    test: { name, include, exclude: [...exclude, ...elsewhere], maxWorkers, sequence: { groupOrder } },
  };
}
