// Report of a mutation run, file by file: the mutants killed, and each survivor.
import { readFileSync, writeFileSync } from "node:fs";

/** What we read of Stryker's JSON report. */
interface Outcome {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly Mutant[] }>>;
}

interface Mutant {
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly status: string;
  readonly statusReason?: string;
  readonly location: { readonly start: Place; readonly end: Place };
}

interface Place {
  readonly line: number;
  readonly column: number;
}

/** How the mutants of one file ended. What does not compile is not counted. */
export interface Row {
  readonly file: string;
  readonly killed: number;
  /** Noticed only because the tests did not come to an end, each in a line: a slow machine can look the same. */
  readonly timeouts: readonly string[];
  /** The mutants that no test noticed, each in a line. */
  readonly survivors: readonly string[];
}

/** The rows of a group, by the report of its last run. */
export function rowsOf(path: string): readonly Row[] {
  const { files } = JSON.parse(readFileSync(path, "utf8")) as Outcome;
  return Object.entries(files).map(([file, { source, mutants }]) => {
    const lines = source.split("\n");
    const those = (...statuses: string[]): readonly string[] =>
      mutants.filter((mutant) => statuses.includes(outcomeOf(mutant))).map((mutant) => lineOf(file, lines, mutant));
    return {
      file,
      killed: those("Killed").length,
      timeouts: those("Timeout"),
      // A test runner that failed has noticed nothing.
      survivors: those("Survived", "NoCoverage", "RuntimeError"),
    };
  });
}

/** Stryker takes a test for failed that Vitest has ended because it ran too long. */
function outcomeOf({ status, statusReason = "" }: Mutant): string {
  return status === "Killed" && /^(?:Test|Hook) timed out in /.test(statusReason) ? "Timeout" : status;
}

/** The share of the mutants that were noticed, in percent. */
export function scoreOf(rows: readonly Row[]): number {
  const noticed = sum(rows, ({ killed, timeouts }) => killed + timeouts.length);
  return (100 * noticed) / (noticed + sum(rows, ({ survivors }) => survivors.length));
}

/** The rows as a table in Markdown, with a last row for all of them. */
export function tableOf(rows: readonly Row[]): string {
  const line = (name: string, of: readonly Row[]): string =>
    `| ${name} | ${scoreOf(of).toFixed(1)} | ${sum(of, ({ killed }) => killed)} | ${sum(of, ({ timeouts }) => timeouts.length)} | ${sum(of, ({ survivors }) => survivors.length)} |`;
  return [
    "| File | Score, % | Killed | Timed out | Survived |",
    "| --- | --- | --- | --- | --- |",
    ...rows.map((row) => line(`\`${row.file}\``, [row])),
    line("all", rows),
  ].join("\n");
}

/**
 * Leaves in a report what was killed alone: all else is tried again. It may have been the machine that timed out, and
 * Stryker does not see which new test would notice a break outside of the tests.
 */
export function keepKills(path: string): void {
  const outcome = JSON.parse(readFileSync(path, "utf8")) as Outcome;
  const files = Object.entries(outcome.files).map(([file, { mutants, ...rest }]) => [
    file,
    { ...rest, mutants: mutants.filter((mutant) => outcomeOf(mutant) === "Killed") },
  ]);
  writeFileSync(path, JSON.stringify({ ...outcome, files: Object.fromEntries(files) as object }));
}

function sum(rows: readonly Row[], of: (row: Row) => number): number {
  return rows.reduce((total, row) => total + of(row), 0);
}

/** What is said of a mutant, apart from its place. */
const notes: Readonly<Record<string, string>> = {
  NoCoverage: " (in no test)",
  RuntimeError: " (not run)",
  Timeout: " (timed out)",
};

function lineOf(file: string, lines: readonly string[], mutant: Mutant): string {
  const { mutatorName, replacement = "", location } = mutant;
  const { start, end } = location;
  const original = (lines[start.line - 1] ?? "").slice(
    start.column - 1,
    start.line === end.line ? end.column - 1 : undefined,
  );
  return `${file}:${start.line}:${start.column} ${mutatorName}${notes[outcomeOf(mutant)] ?? ""}: ${original} → ${replacement.split("\n")[0]}`;
}
