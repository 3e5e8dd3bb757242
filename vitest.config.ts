// How the tests run: real servers, so few files at a time, and time for slow machines.
import { configDefaults, defineConfig } from "vitest/config";
import { leftOut } from "./test/support/left-out.ts";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: [...configDefaults.exclude, ...leftOut.map(({ files }) => files)],
    globalSetup: ["test/support/global-setup.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: "forks",
    // Two processes run all files: what the service loads is loaded and compiled twice, and not for every file.
    isolate: false,
    maxWorkers: 2,
  },
});
