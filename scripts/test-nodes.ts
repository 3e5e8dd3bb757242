// `npm run test:nodes`: runs the core of the suite on every supported version of Node.
import { spawnSync } from "node:child_process";
import { delimiter, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { testCacheDir } from "../test/fixtures/databases/cache-dir.ts";
import type { NodeProgram } from "./node-programs.ts";
import { nodeProgram, supportedNodes } from "./node-programs.ts";

/**
 * Unit tests, the gateway, every case on every wire, the guards, idempotency, MCP, and a start without configuration.
 */
const core = [
  ...[
    "test/config/config.test.ts",
    "test/call/errors.test.ts",
    "test/search/",
    "test/http/",
    "test/gateway/",
    "test/cases/",
  ],
  ...["test/guards/", "test/idempotency/", "test/mcp/tools/", "test/app/main.test.ts"],
];
const usage = `npm run test:nodes -- [VERSION …] [--fetch] [--files test/cases/,test/guards/]
Runs on ${supportedNodes.join(", ")} if no version is named.
  --fetch   only fetches them and prints their paths
  --files   tests to run instead of the core, separated by commas, in the syntax of vitest
Exits with 1 if a test fails, or if a named version or all versions are unavailable.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: "boolean", default: false },
    fetch: { type: "boolean", default: false },
    files: { type: "string" },
  },
});
const unknown = positionals.filter((name) => !supportedNodes.some((known) => known === name));
if (values.help || unknown.length > 0) {
  console.log(unknown.length > 0 ? `not supported: ${unknown.join(", ")}\n\n${usage}` : usage);
  process.exit(unknown.length > 0 ? 2 : 0);
}

const verdicts: string[] = [];
let [ran, failed] = [0, 0];
for (const name of supportedNodes) if (positionals.length === 0 || positionals.includes(name)) check(name);
console.log(`\n${verdicts.join("\n")}`);
process.exitCode = failed > 0 || ran === 0 ? 1 : 0;

function check(name: string): void {
  const node = programOf(name);
  if (node === undefined) return;
  ran++;
  if (values.fetch) return void verdicts.push(`Node ${node.version}: ${node.path}`);
  const passed = passes(node);
  if (!passed) failed++;
  verdicts.push(`Node ${node.version}: ${passed ? "passed" : "FAILED"}`);
}

/** The Node of this version. If it is missing, the run continues, and the last lines of its output say so. */
function programOf(name: string): NodeProgram | undefined {
  try {
    return nodeProgram(name, testCacheDir(), (line) => console.log(line));
  } catch (error) {
    verdicts.push(`Node ${name} is LEFT OUT: ${error instanceof Error ? error.message : String(error)}`);
    if (positionals.includes(name)) failed++;
    return undefined;
  }
}

function passes({ version, path }: NodeProgram): boolean {
  console.log(`\n# Node ${version}`);
  // A test that starts "node" must get this version too.
  const env = { ...process.env, PATH: `${dirname(path)}${delimiter}${process.env["PATH"] ?? ""}` };
  const vitest = join(import.meta.dirname, "../node_modules/vitest/vitest.mjs");
  const files = values.files?.split(",") ?? core;
  const { status } = spawnSync(path, [vitest, "run", ...files], { env, stdio: "inherit" });
  return status === 0;
}
