// Summarizes Vitest's reports for `.ci/run`: prints each failure and the numbers of passed and failed tests.
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { pathToFileURL } from "node:url";
import type { TaskMeta } from "vitest";
import { mayLeaveOut } from "./may-leave-out.ts";

/** The used parts of Vitest's JSON report. */
export interface RunReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    /** Why the file could not be loaded or set up. */
    readonly message?: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages?: readonly string[];
      readonly meta?: TaskMeta;
    }[];
  }[];
}

export interface Outcome {
  readonly passed: number;
  readonly failed: number;
  /** Failed tests and files that could not be loaded, with their errors. */
  readonly failures: readonly string[];
  /** Tests that did not run and are not in a declared file. Each counts as a failure. */
  readonly missing: readonly string[];
}

/** Counts a run. `declared` has the paths, relative to `root`, of the files that may skip tests. */
export function outcomeOf({ testResults }: RunReport, root: string, declared: readonly string[]): Outcome {
  const all = testResults.flatMap(({ assertionResults }) => assertionResults);
  const count = (status: string): number => all.filter((one) => one.status === status).length;
  const failures = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === "failed")
      .map(({ fullName, failureMessages = [], meta }) =>
        [`${relative(root, name)}: ${fullName}`, ...failureMessages, ...(meta?.logged ?? [])].join("\n"),
      ),
  );
  // A file that could not be loaded counts as one failed test.
  const unloaded = testResults.filter(
    ({ status, assertionResults }) => status === "failed" && assertionResults.every((one) => one.status !== "failed"),
  );
  const missing = testResults
    // In a failed file, the reason why tests did not run is already counted.
    .filter(({ name, status }) => status !== "failed" && !declared.includes(relative(root, name)))
    .flatMap(({ name, assertionResults }) =>
      assertionResults
        .filter(({ status }) => status !== "passed" && status !== "failed")
        .map(({ status, fullName }) => `${relative(root, name)}: ${fullName} (${status})`),
    );
  failures.push(...unloaded.map(({ name, message }) => `${relative(root, name)}\n${message ?? ""}`));
  return { passed: count("passed"), failed: failures.length + missing.length, failures, missing };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const reports = process.argv.slice(2).map((path) => JSON.parse(readFileSync(path, "utf8")) as RunReport);
  const testResults = reports.flatMap((report) => report.testResults);
  // If the clients and the suite are required, nothing may be skipped.
  const declared = process.env["MCP_CLIENTS"] === "required" ? [] : mayLeaveOut.map(([file]) => file);
  const { passed, failed, failures, missing } = outcomeOf({ testResults }, process.cwd(), declared);
  // Repeated here, because the original output may be thousands of lines above.
  for (const one of failures) console.error(`failed: ${one}`);
  for (const one of missing) console.error(`did not run: ${one}`);
  console.log(`${passed} ${failed}`);
}
