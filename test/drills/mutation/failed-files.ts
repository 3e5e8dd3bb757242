// Counts a test file that fails to load or set up as a failed test. Stryker only looks at tests and would report the
// mutant as a survivor.
import type { RunnerTestCase, RunnerTestFile } from "vitest";
import type { Reporter, Vitest } from "vitest/node";

/** A silent reporter that adds a failed test to each such file. */
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
    name: "loads and sets up the file",
    mode: "run",
    file,
    result: { state: "fail", errors },
  } as unknown as RunnerTestCase;
}
