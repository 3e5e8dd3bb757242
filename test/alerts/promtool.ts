// Runs promtool, the command line tool of Prometheus, on rules and tests that are written to a temporary folder.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import type { RuleFile } from "./rules.ts";

/** The path of promtool: `PROMTOOL`, or `promtool` on PATH. */
export function findPromtool(): string | undefined {
  const set = process.env["PROMTOOL"];
  const named = set === undefined || set === "" ? "promtool" : set;
  return spawnSync(named, ["--version"], { stdio: "ignore" }).status === 0 ? named : undefined;
}

/** The notice for a machine without promtool. */
export const withoutPromtool =
  "No promtool was found: the tests of the alert rules (test/alerts) are LEFT OUT. Install it (on Debian: apt-get install --no-install-recommends prometheus), or set PROMTOOL to its path.";

let program: string | undefined;

/** What promtool printed, and its exit code. */
export interface Verdict {
  readonly status: number | null;
  readonly output: string;
}

export function promtool(args: readonly string[], input?: string): Verdict {
  program ??= findPromtool() ?? "promtool";
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: "utf8",
    // It ends before its garbage would be worth collecting.
    env: { ...process.env, GOGC: "400" },
    ...(input === undefined ? {} : { input }),
  });
  return { status, output: `${error?.message ?? ""}${stdout}${stderr}` };
}

/** One group of a promtool unit test file. */
export interface UnitTest {
  readonly name: string;
  readonly interval: string;
  readonly input_series: readonly { readonly series: string; readonly values: string }[];
  readonly promql_expr_test: readonly {
    readonly expr: string;
    readonly eval_time: string;
    readonly exp_samples: readonly { readonly labels: string; readonly value: number }[];
  }[];
}

export function testRules(rules: RuleFile, tests: readonly UnitTest[]): Verdict {
  const folder = mkdtempSync(join(tmpdir(), "records-alerts-"));
  try {
    writeFileSync(join(folder, "rules.yaml"), stringify(rules));
    // JSON is YAML too, and is parsed faster.
    writeFileSync(
      join(folder, "tests.yaml"),
      JSON.stringify({ rule_files: ["rules.yaml"], evaluation_interval: "1m", tests }),
    );
    return promtool(["test", "rules", join(folder, "tests.yaml")]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
