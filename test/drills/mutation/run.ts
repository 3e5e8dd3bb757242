// `npm run mutation`: runs Stryker on each group and reports the mutants that no test detected.
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { PartialStrykerOptions } from "@stryker-mutator/api/core";
import { Stryker } from "@stryker-mutator/core";
import type { Group } from "./groups.ts";
import { groups } from "./groups.ts";
import { keepKills, rowsOf, scoreOf, tableOf } from "./report.ts";

/** The minimum percentage of detected mutants. */
const minScore = 94;
/** Sandboxes, reports, and incremental results. */
const folder = ".mutation";

const usage = `npm run mutation -- [GROUP …] [--report] [--concurrency <number>]
Runs all groups if none is named. Skips what has not changed since the last run.
  --report        print the findings of the last runs without running anything
  --concurrency   how many mutants to run at once (default: 2)
  --timeout       seconds that a run may take beyond three times the usual time (default: 60); use more on a busy machine
Exits with 1 if less than ${minScore} % of the mutants were detected. Groups: ${groups.map(({ name }) => name).join(", ")}.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: "boolean", default: false },
    report: { type: "boolean", default: false },
    concurrency: { type: "string", default: "2" },
    timeout: { type: "string", default: "60" },
  },
});
const unknown = positionals.filter((wanted) => !groups.some(({ name }) => name === wanted));
if (unknown.length > 0) console.error(`Unknown group: ${unknown.join(", ")}`);
if (values.help || unknown.length > 0) {
  console.log(usage);
  process.exit(unknown.length > 0 ? 2 : 0);
}

const missing = groups.flatMap(({ mutate, tests }) => [...mutate, ...tests]).filter((path) => !existsSync(path));
if (missing.length > 0) throw new Error(`The groups name files that do not exist: ${missing.join(", ")}`);

const wanted = groups.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
if (!values.report) for (const group of wanted) await run(group);
const rows = wanted
  .map(reportOf)
  .filter((path) => existsSync(path))
  .flatMap(rowsOf);
console.log(`${rows.flatMap(({ survivors, timeouts }) => [...survivors, ...timeouts]).join("\n")}\n\n${tableOf(rows)}`);
if (scoreOf(rows) < minScore) process.exitCode = 1;

async function run(group: Group): Promise<void> {
  console.log(`# ${group.name}`);
  mkdirSync(folder, { recursive: true });
  if (existsSync(knownOf(group))) keepKills(knownOf(group));
  // Read by the Vitest configuration.
  process.env["MUTATION_GROUP"] = group.name;
  await new Stryker(optionsOf(group)).runMutationTest();
}

function reportOf({ name }: Group): string {
  return join(folder, `${name}.json`);
}

/** The incremental results of a group. */
function knownOf({ name }: Group): string {
  return join(folder, `${name}.incremental.json`);
}

function optionsOf(group: Group): PartialStrykerOptions {
  return {
    mutate: [...group.mutate],
    testRunner: "vitest",
    plugins: ["@stryker-mutator/vitest-runner"],
    vitest: { configFile: "test/drills/mutation/vitest.config.mts" },
    coverageAnalysis: "perTest",
    disableTypeChecks: false,
    // Stops Stryker from rewriting tsconfig.json, which needs an API that TypeScript 7 does not have.
    tsconfigFile: "left-as-it-is",
    concurrency: Number(values.concurrency),
    ignorePatterns: ["/.hypothesis", "/third_party", "/data", "/deploy", "/test-results", folder],
    tempDirName: join(folder, "sandbox"),
    incremental: true,
    incrementalFile: knownOf(group),
    jsonReporter: { fileName: reportOf(group) },
    reporters: ["json", "progress-append-only"],
    timeoutMS: 1_000 * Number(values.timeout),
    timeoutFactor: 3,
    allowConsoleColors: false,
    warnings: false,
  };
}
