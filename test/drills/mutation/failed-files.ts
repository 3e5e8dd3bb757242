// Counts a test file that cannot be loaded or set up as a failed test: Stryker looks at tests alone, and would take the
// mutant for unnoticed.
import type { RunnerTestCase, RunnerTestFile } from "vitest";
import type { Reporter, Vitest } from "vitest/node";

/** A silent reporter, and leaves in each such file one test that failed. */
export function failedFiles(): Reporter {
  let vitest: Vitest;
  return {
    onInit(started) {
      vitest = started;
    },
    onTestRunEnd() {
      for (const file of vitest.state.getFiles())
        if ((file.result?.errors ?? []).length > 0) file.tasks.push(failedTest(file));
    },
  };
}

function failedTest(file: RunnerTestFile): RunnerTestCase {
  const errors = file.result?.errors ?? [];
  return {
    type: "test",
    name: "the file is loaded and set up",
    mode: "run",
    file,
    result: { state: "fail", errors },
  } as unknown as RunnerTestCase;
}
