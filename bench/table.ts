// The results as a table in Markdown.
import type { Goal } from "./goals.ts";
import { goals, isReached } from "./goals.ts";
import { peerTitles } from "./peers/peers.ts";
import type { Results, Row, Sample } from "./results.ts";
import { growth, median, timesAsGood } from "./results.ts";

/** The whole of `results.md`; `notes` are sentences on how it was measured. */
export function table(results: Results, notes: readonly string[]): string {
  const sections = [
    "# What Records costs, against what one would use instead",
    "Written by `npm run bench`. Ratios above 1 are better than what they are compared with, but for those of time and memory that are to be at most so much.",
    notes.map((note) => `- ${note}`).join("\n"),
    "![The goals, and how far they are reached](results.svg)",
    `## Goals\n\n${goalTable(results)}`,
    ...[...new Set(results.rows.map(({ line }) => line))].map((line) =>
      lineTable(results.rows.filter((row) => row.line === line)),
    ),
    ...(results.starts.size === 0 ? [] : [`## Start to the first answer\n\n${startTable(results)}`]),
    ...(results.searches.length === 0 ? [] : [`## Search by size\n\n${searchTable(results)}`]),
  ];
  return `${sections.join("\n\n")}\n`;
}

/** The goals that were measured. */
export function goalTable(results: Results): string {
  const measured = goals.flatMap((goal): [Goal, number][] => {
    const value = goal.value(results);
    return value === undefined ? [] : [[goal, value]];
  });
  return grid(
    ["Goal", "Figure", "Wanted", "Measured", ""],
    measured.map(([goal, value]) => [
      goal.title,
      goal.figure,
      `${goal.sense} ${goal.wanted}`,
      value.toFixed(2),
      isReached(goal, value) ? "reached" : "**missed**",
    ]),
  );
}

function lineTable(rows: readonly Row[]): string {
  const ours = rows[0] as Row;
  const other = (row: Row, figure: keyof Sample): string =>
    row === ours ? "" : timesAsGood(ours, row, figure).toFixed(2);
  const cells = rows.map((row) => {
    const of = (figure: keyof Sample): number => median(row.samples.map((sample) => sample[figure]));
    const failed = row.failed === 0 ? "" : ` (${row.failed} failed)`;
    return [
      row.title + failed,
      of("rate").toFixed(0),
      of("p50Ms").toFixed(2),
      of("p99Ms").toFixed(1),
      of("cpuUs").toFixed(0),
      row.memoryMb.toFixed(0),
      other(row, "rate"),
      other(row, "cpuUs"),
    ];
  });
  return `## ${ours.lineTitle}\n\n${grid(["", "req/s", "p50 ms", "p99 ms", "CPU µs", "MB", "Records is × by req/s", "by CPU"], cells)}`;
}

function startTable({ starts }: Results): string {
  const ours = median(starts.get("ours") ?? []);
  return grid(
    ["", "ms", "Records takes ×"],
    [...starts].map(([peer, all]) => [
      peerTitles[peer],
      median(all).toFixed(0),
      peer === "ours" ? "" : (ours / median(all)).toFixed(2),
    ]),
  );
}

function searchTable({ searches }: Results): string {
  const sizes = (searches[0]?.sizes ?? []).map((_, at) => ["smallest", "middle", "largest"][at] ?? String(at));
  const rows = searches.map((row) => [
    `${row.list}: ${row.title}${row.comparable ? "" : " (told)"}`,
    ...row.sizes.map(
      ({ p50Ms, hits, keys, documents, failed }) =>
        `${median(p50Ms).toFixed(1)} ms, ${hits} hits, ${keys} keys, ${documents} docs${failed === 0 ? "" : `, ${failed} failed`}`,
    ),
    growth(row).toFixed(2),
  ]);
  return `Contacts in accounts of ${countsOf(searches, "contacts")}, notes of ${countsOf(searches, "notes")}: p50, the first page's hits, and the most that one search examined.\n\n${grid(["", ...sizes, "largest : smallest"], rows)}`;
}

function countsOf(searches: Results["searches"], list: string): string {
  return (searches.find((row) => row.list === list)?.sizes ?? [])
    .map(({ records }) => records.toLocaleString("en"))
    .join(", ");
}

/** A table in Markdown. */
export function grid(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, at) => (at === 0 ? "---" : "---:"))), ...rows.map(line)].join("\n");
}
