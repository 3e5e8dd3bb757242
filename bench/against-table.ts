// The comparison with an older commit as a table in Markdown: medians with their spread, and the ratio of each round.
import { grid } from "./table.ts";
import { median } from "./results.ts";

export type Side = "old" | "new";

/** One load of one side. */
export interface PairSample {
  /** Requests a second. */
  readonly rate: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Milliseconds of processor time for each request: of the service, of all members of the set, and of Redis. */
  readonly serviceMs: number;
  readonly mongodMs: number;
  readonly redisMs: number;
}

/** A line over a replica set of so many members. */
export interface Compared {
  readonly members: 1 | 3;
  readonly line: string;
  readonly rounds: readonly Readonly<Record<Side, PairSample>>[];
  /** Responses that were no success, the warm-up included. */
  readonly failed: number;
}

/** The figures of the table, with their digits after the point. */
const figures: readonly (readonly [title: string, figure: keyof PairSample, digits: number])[] = [
  ["requests/s", "rate", 0],
  ["p50 ms", "p50Ms", 2],
  ["p99 ms", "p99Ms", 1],
  ["CPU ms per request: service", "serviceMs", 3],
  ["CPU ms per request: mongod", "mongodMs", 3],
  ["CPU ms per request: Redis", "redisMs", 3],
];

/** The whole comparison; `notes` are sentences on how it was measured. */
export function againstTable(compared: readonly Compared[], commit: string, notes: readonly string[]): string {
  const sections = compared.map((one) => {
    const failed = one.failed === 0 ? "" : `\n\n**${one.failed} requests failed.**`;
    const title = `## ${one.line}, ${one.members} member${one.members === 1 ? "" : "s"}`;
    return `${title}\n\n${grid(["", "new", "old", "new / old"], rowsOf(one))}${failed}`;
  });
  const head = [
    "# This code against an older commit",
    `Written by \`npm run bench -- --against ${commit}\`.`,
    "Each cell is a median, with the smallest and the largest value of the rounds.",
  ];
  return `${[...head, notes.map((note) => `- ${note}`).join("\n"), ...sections].join("\n\n")}\n`;
}

function rowsOf({ rounds }: Compared): string[][] {
  return figures.map(([title, figure, digits]) => {
    const of = (side: Side): number[] => rounds.map((round) => round[side][figure]);
    // A clock tick of processor time is 10 ms: a round may have seen none of it.
    const ratios = rounds.map((round) => round.new[figure] / round.old[figure]).filter(Number.isFinite);
    return [title, spread(of("new"), digits), spread(of("old"), digits), spread(ratios, 2)];
  });
}

function spread(values: readonly number[], digits: number): string {
  if (values.length === 0) return "too little to tell";
  const [middle, least, most] = [median(values), Math.min(...values), Math.max(...values)].map((value) =>
    value.toFixed(digits),
  );
  return `${middle} (${least} to ${most})`;
}
