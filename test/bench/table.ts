// Formats the results as Markdown: the goals on all Nodes, then the figures of each Node.
import type { Benched } from "./bench.ts";
import { goals, verdict } from "./goals.ts";
import type { PeerName } from "./peers/peers.ts";
import { peerTitles } from "./peers/peers.ts";
import type { Pair, Results, Side } from "./results.ts";
import { figureOf, growth, isAgreed, median, ratios, roundsOf, spread, timesAsGood } from "./results.ts";

export function table(all: readonly Benched[]): string {
  const sections = [
    "# The cost of Records compared with alternatives",
    "Written by `npm run bench`, on each Node by `npm run bench -- --node PATH`. A ratio above 1 means that the service is better, except for goals with an upper bound. Each ratio is the median of the rounds, with the minimum and maximum in parentheses.",
    "The service and the floor read a contact with one aggregation; the others use a find per collection unless noted. Except for the floor, each looks up the key in MongoDB, takes a token from a Redis bucket, validates the request and logs it. Fastify's writes keep the service's promises: unique emails, no notes on archived contacts, current labels, and creates with a key that happen exactly once. All use the same records, and their responses are checked to be equal before each run.",
    `## Goals\n\n${goalTable(all.map(({ results }) => results))}`,
    ...all.flatMap(nodeSections),
  ];
  return `${sections.join("\n\n")}\n`;
}

/** The measured goals, with a column for each Node. */
export function goalTable(all: readonly Results[]): string {
  const rows = goals.flatMap((goal) => {
    const values = all.map((results) => goal.value(results));
    if (values.every((value) => value === undefined)) return [];
    const cells = all.map((results, at) => {
      const value = values[at];
      return value === undefined ? "" : `${value.toFixed(2)} ${verdict(goal, results, value)}`;
    });
    return [[goal.title, goal.figure, `${goal.sense} ${goal.wanted}`, ...cells]];
  });
  return grid(["Goal", "Figure", "Wanted", ...all.map(({ node }) => `Node ${node}`)], rows);
}

function nodeSections({ results, notes }: Benched): string[] {
  const { pairs, starts, searches, memory } = results;
  return [
    `## On Node ${results.node}\n\n${notes.map((note) => `- ${note}`).join("\n")}`,
    ...[...new Set(pairs.map(({ line }) => line))].map((line) => lineTable(pairs.filter((pair) => pair.line === line))),
    ...(Object.keys(starts).length === 0 ? [] : [`### Start to the first response\n\n${startTable(starts)}`]),
    ...(memory === undefined ? [] : [`### Memory after ${memory.requests} GET contact\n\n${memoryTable(memory)}`]),
    ...(searches.length === 0 ? [] : [`### Search by size\n\n${searchTable(results)}`]),
  ];
}

function lineTable(pairs: readonly Pair[]): string {
  const rows = pairs.flatMap((pair) => [sideRow(pair, "own"), sideRow(pair, "other")]);
  const title = `### ${pairs[0]?.lineTitle ?? ""}`;
  const head = ["", "req/s", "p50 ms", "p99 ms", "CPU µs", "mongod µs", "Redis µs", "MB"];
  const checked = ["Records is × by req/s", "by CPU", "by CPU of all"];
  const again = pairs.filter((pair) => pair.runs.length > 2).map(runsNote);
  return [`${title}\n\n${grid([...head, ...checked], rows)}`, ...again].join("\n\n");
}

function sideRow(pair: Pair, side: Side): string[] {
  const rounds = roundsOf(pair);
  const of = (figure: Parameters<typeof figureOf>[1], digits: number): string =>
    median(rounds.map((round) => figureOf(round[side], figure))).toFixed(digits);
  const failed = pair.runs.reduce((sum, run) => sum + run.failed[side], 0);
  const checked = (["rate", "serviceUs", "totalUs"] as const).map((figure) =>
    side === "other" ? spread(timesAsGood(rounds, figure), 2) : "",
  );
  return [
    pair[side].title + (failed === 0 ? "" : ` (${failed} failed)`),
    of("rate", 0),
    of("p50Ms", 2),
    of("p99Ms", 1),
    ...(["serviceUs", "mongodUs", "redisUs"] as const).map((figure) => of(figure, 0)),
    median(pair.runs.map(({ memoryMb }) => memoryMb[side])).toFixed(0),
    ...checked,
  ];
}

function runsNote(pair: Pair): string {
  const medians = pair.runs.map(({ rounds }) => (1 / median(ratios(rounds, "serviceUs"))).toFixed(2)).join(", ");
  const count = isAgreed(pair) ? "the last two count" : "no two in a row agree, so all count";
  return `Against ${pair.other.title}, runs differed by more than 15 %: by CPU ${medians}; ${count}.`;
}

function startTable(starts: Results["starts"]): string {
  const ours = median(starts.ours ?? []);
  return grid(
    ["", "ms", "Records takes ×"],
    Object.entries(starts).map(([peer, all]) => [
      peerTitles[peer as PeerName],
      spread(all, 0),
      peer === "ours" ? "" : (ours / median(all)).toFixed(2),
    ]),
  );
}

function memoryTable({ mb }: NonNullable<Results["memory"]>): string {
  return grid(
    ["", "MB"],
    Object.entries(mb).map(([peer, megabytes]) => [peerTitles[peer as PeerName], megabytes.toFixed(0)]),
  );
}

function searchTable({ searches }: Results): string {
  const sizes = (searches[0]?.sizes ?? []).map((_, at) => ["smallest", "middle", "largest"][at] ?? String(at));
  const rows = searches.map((row) => [
    `${row.list}: ${row.title}${row.comparable ? "" : " (reported only)"}`,
    ...row.sizes.map(
      ({ p50Ms, hits, keys, documents, failed }) =>
        `${median(p50Ms).toFixed(1)} ms, ${hits} hits, ${keys} keys, ${documents} docs${failed === 0 ? "" : `, ${failed} failed`}`,
    ),
    growth(row).toFixed(2),
  ]);
  return `Accounts with ${countsOf(searches, "contacts")} contacts and ${countsOf(searches, "notes")} notes: p50, hits on the first page, and the maximum that a search examined.\n\n${grid(["", ...sizes, "largest : smallest"], rows)}`;
}

function countsOf(searches: Results["searches"], list: string): string {
  return (searches.find((row) => row.list === list)?.sizes ?? [])
    .map(({ records }) => records.toLocaleString("en"))
    .join(", ");
}

export function grid(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, at) => (at === 0 ? "---" : "---:"))), ...rows.map(line)].join("\n");
}
