// The report of a mutation run: killed mutants and survivors by file.
import { readFileSync, writeFileSync } from "node:fs";

/** The parts of Stryker's JSON report that are used. */
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

/** The results for one file. Mutants that do not compile are not counted. */
export interface Row {
  readonly file: string;
  readonly killed: number;
  /** Mutants that were only detected by a timeout, one per line. On a slow machine, this may be a false detection. */
  readonly timeouts: readonly string[];
  /** Mutants that no test detected, one per line. */
  readonly survivors: readonly string[];
}

/** The rows of a group from the report of its last run. */
export function rowsOf(path: string): readonly Row[] {
  const { files } = JSON.parse(readFileSync(path, "utf8")) as Outcome;
  return Object.entries(files).map(([file, { source, mutants }]) => {
    const lines = source.split("\n");
    const ofStatus = (...statuses: string[]): readonly string[] =>
      mutants.filter((mutant) => statuses.includes(outcomeOf(mutant))).map((mutant) => lineOf(file, lines, mutant));
    return {
      file,
      killed: ofStatus("Killed").length,
      timeouts: ofStatus("Timeout"),
      // If the test runner failed, no test detected the mutant.
      survivors: ofStatus("Survived", "NoCoverage", "RuntimeError"),
    };
  });
}

/** Stryker counts tests that Vitest timed out as failed. */
function outcomeOf({ status, statusReason = "" }: Mutant): string {
  return status === "Killed" && /^(?:Test|Hook) timed out in /.test(statusReason) ? "Timeout" : status;
}

export function scoreOf(rows: readonly Row[]): number {
  const noticed = sum(rows, ({ killed, timeouts }) => killed + timeouts.length);
  return (100 * noticed) / (noticed + sum(rows, ({ survivors }) => survivors.length));
}

/** Formats the rows as a Markdown table with a total. */
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
 * Keeps only killed mutants in a report, so that all others run again. A timeout may have been the machine's fault, and
 * Stryker does not know which new tests could detect a survivor.
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

/** Remarks by status. */
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
