// The Vitest configuration for mutants: runs only the tests of the group in MUTATION_GROUP.
import { defineConfig } from "vitest/config";
import { groups } from "./groups.ts";
import { failedFiles } from "./failed-files.ts";

const group = groups.find(({ name }) => name === process.env["MUTATION_GROUP"]);

export default defineConfig({
  test: {
    include: [...(group?.tests ?? [])],
    globalSetup: group?.mongod === true ? ["test/support/global-setup.ts"] : [],
    reporters: [failedFiles()],
    // Each mutant has its own thread anyway, so the test files can share imports.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
