// What the bench is held to: a ratio for each goal, and of which figure.
import type { PeerName } from "./peers/peers.ts";
import type { Results, Sample, SearchRow } from "./results.ts";
import { growth, median, timesAsGood } from "./results.ts";

/** A goal. */
export interface Goal {
  readonly title: string;
  readonly wanted: number;
  readonly sense: "at least" | "at most";
  /** What the ratio is of, for the table. */
  readonly figure: string;
  /** The ratio; undefined where it was not measured. */
  value(results: Results): number | undefined;
}

const figures = { cpuUs: "CPU for each request", rate: "requests a second" } as const;

/** The goals, in the order of the table. */
export const goals: readonly Goal[] = [
  against("GET contact against the floor", 0.75, "get", "ours", "floor", "cpuUs"),
  against("GET contact against Fastify with three finds", 1.3, "get", "ours", "fastify", "cpuUs"),
  against("GET sessions against the floor", 0.75, "sessions", "ours", "floor", "cpuUs"),
  against("GET sessions against Fastify", 1.2, "sessions", "ours", "fastify", "cpuUs"),
  against("Search contacts against the floor with finds", 1, "contacts", "ours", "floor3", "cpuUs"),
  against("Search contacts against Fastify", 1.1, "contacts", "ours", "fastify", "cpuUs"),
  against("Create contact against the raw insert", 0.7, "create", "ours", "floor", "rate"),
  against("Create contact with an Idempotency-Key against the raw insert", 0.45, "create", "ours-key", "floor", "rate"),
  against("Connect's JSON against a plain connect-node service", 0.9, "connect", "ours", "connect", "cpuUs"),
  against("gRPC against a plain connect-node service", 0.9, "grpc", "ours", "connectHttp2", "cpuUs"),
  against("REST against a plain connect-node service", 2, "connect", "ours-rest", "connect", "cpuUs"),
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
  against(
    "Transcript of 1 MB, gzip accepted, against decoding and writing it",
    8,
    "transcript",
    "ours",
    "floor",
    "rate",
  ),
  {
    ...{ title: "Start to the first answer against the floor", wanted: 1.5, sense: "at most", figure: "milliseconds" },
    value: ({ starts }) => quotient(startOf(starts, "ours"), startOf(starts, "floor")),
  },
  {
    ...{ title: "Memory after GET contact against Fastify", wanted: 1.25, sense: "at most", figure: "resident memory" },
    value: (results) => quotient(rowOf(results, "get", "ours")?.memoryMb, rowOf(results, "get", "fastify")?.memoryMb),
  },
];

/** Whether a ratio is what the goal wants. */
export function isReached({ wanted, sense }: Goal, value: number): boolean {
  return sense === "at least" ? value >= wanted : value <= wanted;
}

function against(
  title: string,
  wanted: number,
  line: string,
  subject: string,
  other: string,
  figure: keyof typeof figures & keyof Sample,
): Goal {
  return {
    ...{ title, wanted, sense: "at least", figure: figures[figure] },
    value(results) {
      const [own, theirs] = [rowOf(results, line, subject), rowOf(results, line, other)];
      return own && theirs && timesAsGood(own, theirs, figure);
    },
  };
}

/** The class that grows most counts. */
function largest(title: string, wanted: number, chosen: (row: SearchRow) => boolean): Goal {
  return {
    ...{ title, wanted, sense: "at most", figure: "p50 of the class that grows most" },
    value({ searches }) {
      const rows = searches.filter((row) => row.comparable && chosen(row));
      return rows.length === 0 ? undefined : Math.max(...rows.map(growth));
    },
  };
}

function rowOf({ rows }: Results, line: string, subject: string) {
  return rows.find((row) => row.line === line && row.subject === subject);
}

function startOf(starts: Results["starts"], peer: PeerName): number | undefined {
  const all = starts.get(peer);
  return all && median(all);
}

function quotient(own: number | undefined, theirs: number | undefined): number | undefined {
  return own === undefined || theirs === undefined ? undefined : own / theirs;
}
