// `npm run bench`: the command line of the bench. Measures the service against its peers, or against an older commit.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { BenchOptions } from "./bench.ts";
import { bench, countLines, machineNote, profileLines, versionOf } from "./bench.ts";
import { cacheFolder } from "./fixture.ts";
import { compareWith } from "./against.ts";
import { againstTable, failedOf, isSlower, ratioTable } from "./against-table.ts";
import { keep } from "./kept.ts";
import { goalTable, table } from "./table.ts";

/** The maximum ratio to the CPU time of the older code. */
const quickLimit = 1.25;
const usage = `npm run bench -- [--only get,sessions] [--rounds 6] [--seconds 2] [--node PATH] [--small] [--profile get | --calls get] [--data FOLDER] [--results FOLDER]
  --only     names of lines, "start", "memory" or "search"; the results are then only shown, unless --results is given
  --node     the Node that runs the service and the peers; results of other Nodes stay in the table
  --runs     runs of a pair, each with freshly started subjects; more if two of them differ by more than 15 %
  --small    use a small, new data set, to check that everything runs
  --data     where the data is kept between runs (the full set is 8 GB and takes 20 minutes to create)
  --profile  show CPU profiles of these lines, or of "start", instead: of the service and of its first peer
  --calls    show how often each function is called per request of these lines instead
  --results  where to write results.md and results.json; with --only, other lines there stay

npm run bench -- --against COMMIT [--only get,patch] [--members 1,3] [--rounds 6] [--seconds 3] [--node PATH] [--out FILE]
  --against  compare this code with an older commit instead: get, sessions, contacts, notes, create, create-key, append, patch, rename
  --members  sizes of the replica set
  --out      a file to write the table to as well

npm run bench -- --quick [--against COMMIT] [--only get,patch]
  --quick    compare this code with its parent, or with the given commit, in under 4 minutes; exits
             with 1 if a line takes more than ${quickLimit} times the CPU time`;

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    runs: { type: "string" },
    rounds: { type: "string", default: "6" },
    seconds: { type: "string" },
    node: { type: "string", default: process.execPath },
    small: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    data: { type: "string" },
    profile: { type: "string" },
    calls: { type: "string" },
    against: { type: "string" },
    members: { type: "string" },
    out: { type: "string" },
    results: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(usage);
  process.exit(0);
}
const only = (values.profile ?? values.calls ?? values.only)?.split(",");
const say = (line: string): void => console.log(line);
const commit = values.against ?? (values.quick ? "HEAD^" : undefined);
if (commit !== undefined) await compare(commit);
else await measure();

async function measure(): Promise<void> {
  const temporary =
    values.small && values.data === undefined ? mkdtempSync(join(tmpdir(), "records-bench-")) : undefined;
  const { small, node } = values;
  const dataDir = temporary ?? values.data ?? join(cacheFolder(), "bench");
  const options: BenchOptions = { dataDir, small, only, effort: effort(2, 2, 40), node, say };
  try {
    if (values.profile !== undefined) return await profileLines(options);
    if (values.calls !== undefined) return await countLines(options);
    const benched = await bench(options);
    // Partial runs and the small set do not replace the results.
    const folder = values.results ?? (small || only !== undefined ? undefined : import.meta.dirname);
    console.log(
      `\n${folder === undefined ? table([benched]) : keep(folder, benched, only !== undefined)}\n${goalTable([benched.results])}`,
    );
  } finally {
    if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true });
  }
}

async function compare(than: string): Promise<void> {
  const { quick, node } = values;
  const members = (values.members ?? (quick ? "1" : "1,3")).split(",").map((count) => (count === "1" ? 1 : 3));
  const limit = quick ? quickLimit : undefined;
  const length = quick ? effort(1, 0.7, 2) : effort(2, 3, 9);
  const compared = await compareWith({ commit: than, members, only, effort: length, node, limit, say });
  const notes = [
    `Each figure is the median of ${length.runs * length.rounds} rounds of ${length.seconds} s over 8 connections, more if two runs differed. In each round, both sides are loaded in turn on the same replica set and Redis.`,
    "CPU is the CPU time per request from /proc; for mongod, the sum of all members. The side that is not loaded is idle.",
    machineNote(versionOf(node)),
  ];
  const text = againstTable(compared, than, notes);
  if (values.out !== undefined) writeFileSync(values.out, text);
  console.log(`\n${limit === undefined ? text : ratioTable(compared, limit)}`);
  if (limit !== undefined && compared.some((one) => isSlower(one, limit) || failedOf(one) > 0)) process.exitCode = 1;
}

function effort(runs: number, seconds: number, warmSeconds: number): BenchOptions["effort"] {
  return {
    runs: Number(values.runs ?? runs),
    rounds: Number(values.rounds),
    seconds: Number(values.seconds ?? seconds),
    warmSeconds,
  };
}
