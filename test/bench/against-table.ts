// The comparison with an older commit: as a table in Markdown, and as one line for each line of the bench.
import type { Pair, Sample, Side } from "./results.ts";
import { median, ratios, roundsOf, spread } from "./results.ts";
import { grid } from "./table.ts";

/** A line over a replica set of so many members; `own` is this code, `other` the older. */
export interface Compared extends Pick<Pair, "line" | "runs"> {
  readonly members: 1 | 3;
}

/** The figures of the table, with their digits after the point. */
const figures: readonly (readonly [title: string, figure: keyof Sample, digits: number])[] = [
  ["requests/s", "rate", 0],
  ["p50 ms", "p50Ms", 2],
  ["p99 ms", "p99Ms", 1],
  ["CPU µs per request: service", "serviceUs", 0],
  ["CPU µs per request: mongod", "mongodUs", 0],
  ["CPU µs per request: Redis", "redisUs", 0],
];
const checked = ["serviceUs", "totalUs"] as const;

/** The whole comparison; `notes` are sentences on how it was measured. */
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

/** The ratio of each line, new / old, by processor time for each request; above 1 this code is slower. */
export function ratioTable(compared: readonly Compared[], limit: number): string {
  const rows = compared.map((one) => [
    one.line,
    ...checked.map((figure) => spread(ratios(roundsOf(one), figure), 2)),
    isSlower(one, limit) ? `**beyond ${limit}**${failures(one, "; ", "")}` : failures(one, "", ""),
  ]);
  return grid(["new / old", "CPU of the service", "CPU with mongod and redis-server", ""], rows);
}

/**
 * Whether this code takes more than `limit` times the processor time in every run: one run may have met other work on
 * the machine.
 */
export function isSlower({ runs }: Pick<Compared, "runs">, limit: number): boolean {
  return checked.some((figure) => runs.every(({ rounds }) => median(ratios(rounds, figure)) > limit));
}

/** How many responses were no success. */
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
