// `npm run mutation`: breaks the code of each group in every small way, one at a time, and reports which breaks no test
// noticed.
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { PartialStrykerOptions } from "@stryker-mutator/api/core";
import { Stryker } from "@stryker-mutator/core";
import type { Group } from "./groups.ts";
import { groups } from "./groups.ts";
import { keepKills, rowsOf, scoreOf, tableOf } from "./report.ts";

/** Of all mutants, in percent. */
const minScore = 94;
/** Sandboxes, reports, and what the next run need not do again. */
const folder = ".mutation";

const usage = `npm run mutation -- [GROUP …] [--report] [--concurrency <number>]
All groups where none is named; what has not changed since the last run is not run again.
  --report        runs nothing, and prints the findings of the last runs
  --concurrency   how many mutants are tried at once, by default 2
  --timeout       after how many seconds, in addition to three times what the tests take unbroken, a run counts as one that does
                  not end, by default 60: more on a busy machine
Ends with 1 when less than ${minScore} % of the breaks were noticed. Groups: ${groups.map(({ name }) => name).join(", ")}.`;

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
if (unknown.length > 0) console.error(`no group is called ${unknown.join(", ")}`);
if (values.help || unknown.length > 0) {
  console.log(usage);
  process.exit(unknown.length > 0 ? 2 : 0);
}

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
  // The configuration of its tests looks there.
  process.env["MUTATION_GROUP"] = group.name;
  await new Stryker(optionsOf(group)).runMutationTest();
}

function reportOf({ name }: Group): string {
  return join(folder, `${name}.json`);
}

/** What the next run takes from the last. */
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
    // Stryker would rewrite it by TypeScript's programming interface, which TypeScript 7 does not have; nothing in it
    // needs that.
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
