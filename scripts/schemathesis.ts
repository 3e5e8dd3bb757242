// `npm run schemathesis`: sends requests generated from the served OpenAPI document to a service started for the run,
// and checks every response against the document.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createBrowser } from "../test/fixtures/sign-in/browser.ts";
import { testCacheDir } from "../test/fixtures/databases/cache-dir.ts";
import type { Program } from "../test/fixtures/service/program.ts";
import { startProgram } from "../test/fixtures/service/program.ts";
import { canMakeEnvironments, pythonTool, schemathesis, withoutEnvironments } from "./python-tool.ts";

const usage = `npm run schemathesis -- [--short] [--seed <number>] [--document <path of a file>] [--demo <path of a file>] [--no-shrink]
  --short      about 400 requests instead of many thousands
  --seed       the seed of an earlier run, to repeat its requests
  --document   an OpenAPI document to use instead of the served one
  --demo       the demo.json of a running service, instead of starting one
  --no-shrink  skips the search for the smallest request of each finding
Exits with 1 if a response contradicts the document, and with 2 if the run itself fails.`;

/** The least number of requests in the long form; fewer means that something was skipped. */
const minRequests = { short: 200, long: 5_000 };

type Demo = ReturnType<Program["demo"]>;

/** The fields that we read from Schemathesis's JSON report. */
interface Report {
  readonly complete: boolean;
  /** A string, because it is too large for an exact number. */
  readonly seed: string;
  readonly operations: { readonly total: number; readonly tested: number };
  readonly test_cases: { readonly generated: number; readonly unique_failures: number };
  readonly errors: readonly unknown[];
  readonly warnings: { readonly missing_auth: readonly string[] };
}

const { values } = parseArgs({
  options: {
    help: { type: "boolean", default: false },
    short: { type: "boolean", default: false },
    seed: { type: "string" },
    document: { type: "string" },
    demo: { type: "string" },
    "no-shrink": { type: "boolean", default: false },
  },
});
if (values.help) console.log(usage);
else process.exitCode = await main();

async function main(): Promise<number> {
  if (!canMakeEnvironments()) {
    console.error(`${withoutEnvironments}: Schemathesis cannot run.`);
    return 2;
  }
  const folder = mkdtempSync(join(tmpdir(), "records-schemathesis-"));
  let program: Program | undefined;
  try {
    if (values.demo === undefined)
      program = await startProgram(join(folder, "data"), { RATE_LIMIT: "1000000", RATE_BURST: "1000000" });
    const demo = program?.demo() ?? (JSON.parse(readFileSync(values.demo ?? "", "utf8")) as Demo);
    const report = run(folder, demo.base_url, await credentials(demo));
    return verdict(report);
  } catch (error) {
    console.error(`schemathesis: ${error instanceof Error ? error.message : String(error)}`);
    return 2;
  } finally {
    await program?.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * An API key of one account for the records, and a session of another for the key operations, so that no rotation
 * revokes the key.
 */
async function credentials({ base_url, accounts }: Demo): Promise<string> {
  const [writer] = accounts;
  const owner = accounts.find(({ email }) => email === "enrolled@example.com");
  const browser = createBrowser();
  await browser.submit(await browser.open(`${base_url}/sign-in`), {
    login: owner?.email ?? "",
    password: owner?.password ?? "",
  });
  const session = /records_session=([^;]+)/.exec(browser.cookiesFor(base_url))?.[1];
  if (session === undefined) throw new Error("the sign-in did not set a session cookie");
  return `
[auth.openapi.apiKey]
bearer = ${JSON.stringify(writer?.api_key)}
[auth.openapi.dashboardSession]
api_key = ${JSON.stringify(session)}
[[operations]]
include-path-regex = "^/v1/(api-key|audit-log)"
headers = { Origin = ${JSON.stringify(base_url)} }
`;
}

function run(folder: string, base: string, configuration: string): Report {
  const [settings, reportPath] = [join(folder, "schemathesis.toml"), join(folder, "report.json")];
  writeFileSync(settings, configuration, { mode: 0o600 });
  const [tool, ...first] = pythonTool(schemathesis, testCacheDir());
  const effort = values.short
    ? ["--phases", "examples,fuzzing", "--max-examples", "25"]
    : ["--max-examples", "400", "--continue-on-failure"];
  const args = [
    ...first,
    ...[
      "--config-file",
      settings,
      "--no-color",
      "run",
      values.document ?? `${base}/openapi.json`,
      "--url",
      base,
      "--checks",
      "all",
    ],
    ...[...effort, ...(values.seed === undefined ? [] : ["--seed", values.seed])],
    ...(values["no-shrink"] ? ["--no-shrink"] : []),
    ...["--generation-database", "none", "--report", "json", "--report-json-path", reportPath],
  ];
  const { error } = spawnSync(tool, args, { cwd: folder, stdio: "inherit" });
  if (error !== undefined) throw error;
  const report = readFileSync(reportPath, "utf8");
  return { ...(JSON.parse(report) as Report), seed: /"seed": *(\d+)/.exec(report)?.[1] ?? "" };
}

function verdict({ complete, seed, operations, test_cases, errors, warnings }: Report): number {
  const least = values.short ? minRequests.short : minRequests.long;
  const problems = [
    ...(complete ? [] : ["it was not run to its end"]),
    ...(operations.tested === operations.total
      ? []
      : [`only ${operations.tested} of ${operations.total} operations were tested`]),
    ...(test_cases.generated >= least ? [] : [`fewer than ${least} requests`]),
    ...(errors.length === 0 ? [] : [`${errors.length} errors in the run itself`]),
    ...warnings.missing_auth.map((operation) => `${operation} returned only 401 and 403`),
  ];
  console.log(
    `\n${test_cases.generated} requests to ${operations.tested} operations, ${test_cases.unique_failures} findings (seed ${seed})`,
  );
  for (const problem of problems) console.error(`schemathesis: ${problem}`);
  return test_cases.unique_failures > 0 ? 1 : problems.length > 0 ? 2 : 0;
}
