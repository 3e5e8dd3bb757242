// The goals of the bench: the wanted ratio of each, and the figure that it is for.
import type { PeerName } from "./peers/peers.ts";
import type { Figure, Results, SearchRow } from "./results.ts";
import { growth, median, roundsOf, timesAsGood } from "./results.ts";

export interface Goal {
  readonly title: string;
  readonly wanted: number;
  readonly sense: "at least" | "at most";
  /** The name of the figure in the table. */
  readonly figure: string;
  /** Whether a miss is only reported. */
  readonly isReportedOnly?: (results: Results) => boolean;
  /** The ratio; undefined if it was not measured. */
  value(results: Results): number | undefined;
}

const figures = { serviceUs: "CPU per request", totalUs: "CPU with mongod and redis-server" } as const;
type CheckedFigure = Figure & keyof typeof figures;

/** The goals, in the order of the table. */
export const goals: readonly Goal[] = [
  against("GET contact against the floor with a token", 0.9, "get", "ours", "floorBucket"),
  against("GET sessions against the floor with a token", 0.9, "sessions", "ours", "floorBucket"),
  against("GET contact against Fastify with one aggregation", 1.2, "get", "ours", "fastifyAgg"),
  against("GET sessions against Fastify", 1.3, "sessions", "ours", "fastify"),
  against("Search contacts against Fastify", 1.3, "contacts", "ours", "fastify"),
  against("Search notes against Fastify", 1.1, "notes", "ours", "fastify"),
  against("Create contact against Fastify with the same promises", 1.1, "create", "ours", "fastify"),
  against("Append note against Fastify with the same promises", 1, "append", "ours", "fastify"),
  against("Create contact with a key against Fastify with the same transaction", 1, "create-key", "ours", "fastify"),
  against("GET contact against Fastify, databases included", 1.1, "get", "ours", "fastify", "totalUs"),
  against("GET sessions against Fastify, databases included", 1.1, "sessions", "ours", "fastify", "totalUs"),
  against("Search contacts against Fastify, databases included", 1.1, "contacts", "ours", "fastify", "totalUs"),
  against("Search notes against Fastify, databases included", 1.1, "notes", "ours", "fastify", "totalUs"),
  against("Connect's JSON against our own REST", 0.8, "connect", "ours", "ours-rest"),
  against("gRPC against our own REST", 0.7, "grpc", "ours", "ours-rest"),
  largest(
    "Notes, one word: a million against ten thousand",
    1.3,
    ({ list, words }) => list === "notes" && words === "one",
  ),
  largest(
    "Notes, several words: a million against ten thousand",
    8,
    ({ list, words }) => list === "notes" && words === "several",
  ),
  largest(
    "Contacts: a hundred thousand against a thousand",
    1.3,
    ({ list, words }) => list === "contacts" && words === "one",
  ),
  reportedOnly({
    title: "Two frequent words that rarely meet, a million notes",
    wanted: 100,
    sense: "at most",
    figure: "p50 in ms",
    value: ({ searches }) => {
      const row = searches.find(({ title }) => title.startsWith("two frequent words that rarely meet"));
      return row && median(row.sizes.at(-1)?.p50Ms ?? []);
    },
  }),
  {
    title: "Memory after GET contact against Fastify",
    wanted: 1.25,
    sense: "at most",
    figure: "resident memory",
    value: ({ memory }) => quotient(memory?.mb.ours, memory?.mb.fastify),
  },
  {
    title: "Start to the first response against the floor",
    wanted: 1.5,
    sense: "at most",
    figure: "milliseconds",
    // Without a compile cache, most of a start is compilation.
    isReportedOnly: ({ node }) => Number(/\d+/.exec(node)?.[0]) < 22,
    value: ({ starts }) => quotient(startOf(starts, "ours"), startOf(starts, "floor")),
  },
];

/** Whether a ratio meets the goal. */
function isReached({ wanted, sense }: Goal, value: number): boolean {
  return sense === "at least" ? value >= wanted : value <= wanted;
}

/** The verdict on a ratio in the table. */
export function verdict(goal: Goal, results: Results, value: number): string {
  if (isReached(goal, value)) return "reached";
  return goal.isReportedOnly?.(results) === true ? "reported only" : "**missed**";
}

function reportedOnly(goal: Goal): Goal {
  return { ...goal, isReportedOnly: () => true };
}

function against(
  title: string,
  wanted: number,
  line: string,
  own: string,
  other: string,
  figure: CheckedFigure = "serviceUs",
): Goal {
  return {
    title,
    wanted,
    sense: "at least",
    figure: figures[figure],
    value({ pairs }) {
      const pair = pairs.find((one) => one.line === line && one.own.name === own && one.other.name === other);
      return pair && median(timesAsGood(roundsOf(pair), figure));
    },
  };
}

/** A goal for the search class that grows the most. */
function largest(title: string, wanted: number, chosen: (row: SearchRow) => boolean): Goal {
  return {
    title,
    wanted,
    sense: "at most",
    figure: "p50 of the class that grows most",
    value({ searches }) {
      const rows = searches.filter((row) => row.comparable && chosen(row));
      return rows.length === 0 ? undefined : Math.max(...rows.map(growth));
    },
  };
}

function startOf(starts: Results["starts"], peer: PeerName): number | undefined {
  const all = starts[peer];
  return all && median(all);
}

function quotient(own: number | undefined, theirs: number | undefined): number | undefined {
  return own === undefined || theirs === undefined ? undefined : own / theirs;
}
