// Formats the comparison with an older commit: a full Markdown table, and a short one with a row for each line of the
// bench.
import type { Pair, Sample, Side } from "./results.ts";
import { median, ratios, roundsOf, spread } from "./results.ts";
import { grid } from "./table.ts";

/** A line on a replica set of this size. `own` is this code, `other` the older code. */
export interface Compared extends Pick<Pair, "line" | "runs"> {
  readonly members: 1 | 3;
}

/** The figures of the table, with their decimals. */
const figures: readonly (readonly [title: string, figure: keyof Sample, digits: number])[] = [
  ["requests/s", "rate", 0],
  ["p50 ms", "p50Ms", 2],
  ["p99 ms", "p99Ms", 1],
  ["CPU µs per request: service", "serviceUs", 0],
  ["CPU µs per request: mongod", "mongodUs", 0],
  ["CPU µs per request: Redis", "redisUs", 0],
];
const checked = ["serviceUs", "totalUs"] as const;

/** The full comparison. `notes` describe the measurement. */
export function againstTable(compared: readonly Compared[], commit: string, notes: readonly string[]): string {
  const sections = compared.map((one) => {
    const title = `## ${one.line}, ${one.members} member${one.members === 1 ? "" : "s"}`;
    return `${title}\n\n${grid(["", "new", "old", "new / old"], rowsOf(one))}${failures(one, "\n\n**", "**")}`;
  });
  const head = [
    "# This code against an older commit",
    `Written by \`npm run bench -- --against ${commit}\`.`,
    "Each cell is a median, with the smallest and the largest value of the rounds.",
  ];
  return `${[...head, notes.map((note) => `- ${note}`).join("\n"), ...sections].join("\n\n")}\n`;
}

/** The ratio new / old of each line, by CPU time per request. Above 1, this code is slower. */
export function ratioTable(compared: readonly Compared[], limit: number): string {
  const rows = compared.map((one) => [
    one.line,
    ...checked.map((figure) => spread(ratios(roundsOf(one), figure), 2)),
    isSlower(one, limit) ? `**above ${limit}**${failures(one, "; ", "")}` : failures(one, "", ""),
  ]);
  return grid(["new / old", "CPU of the service", "CPU with mongod and redis-server", ""], rows);
}

/**
 * Whether this code takes more than `limit` times the CPU time in every run. A single run may be disturbed by other
 * work.
 */
export function isSlower({ runs }: Pick<Compared, "runs">, limit: number): boolean {
  return checked.some((figure) => runs.every(({ rounds }) => median(ratios(rounds, figure)) > limit));
}

export function failedOf({ runs }: Pick<Compared, "runs">): number {
  return runs.reduce((sum, { failed }) => sum + failed.own + failed.other, 0);
}

function failures(one: Compared, before: string, after: string): string {
  const failed = failedOf(one);
  return failed === 0 ? "" : `${before}${failed} requests failed.${after}`;
}

function rowsOf(one: Compared): string[][] {
  const rounds = roundsOf(one);
  return figures.map(([title, figure, digits]) => {
    const of = (side: Side): number[] => rounds.map((round) => round[side][figure]);
    return [title, spread(of("own"), digits), spread(of("other"), digits), spread(ratios(rounds, figure), 2)];
  });
}
