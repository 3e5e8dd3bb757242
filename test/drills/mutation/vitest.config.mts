// How the tests of one group run on a mutant: as always, but only those, by the name in MUTATION_GROUP.
import { defineConfig } from "vitest/config";
import { groups } from "./groups.ts";
import { failedFiles } from "./failed-files.ts";

const group = groups.find(({ name }) => name === process.env["MUTATION_GROUP"]);

export default defineConfig({
  test: {
    include: [...(group?.tests ?? [])],
    globalSetup: group?.mongod === true ? ["test/support/global-setup.ts"] : [],
    reporters: [failedFiles()],
    // Each mutant is tried in a thread of its own anyhow: what its test files import is loaded once.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
