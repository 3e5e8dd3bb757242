// How the tests run: real servers, so few files at a time, and time for slow machines.
import { configDefaults, defineConfig } from "vitest/config";
import { leftOut } from "./test/support/left-out.ts";
import { LongestFirst } from "./test/support/longest-first.ts";

/** Drills that measure times run one by one, after all other tests. */
const timed = ["hostile", "overload", "soak", "starvation"].map((name) => `test/drills/${name}.test.ts`);
const exclude = [...configDefaults.exclude, ...leftOut.map(({ files }) => files)];

export default defineConfig({
  test: {
    globalSetup: ["test/support/global-setup.ts"],
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
          exclude: [...exclude, ...timed],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: "timed", include: timed, exclude, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
