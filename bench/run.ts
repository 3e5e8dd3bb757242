// `npm run bench`: prepares the data, starts the service and its peers, measures them side by side, and writes the
// results.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { BenchOptions, Benched } from "./bench.ts";
import { bench, machineNote, profileLines } from "./bench.ts";
import { cacheFolder } from "./fixture.ts";
import { compareWith } from "./against.ts";
import { againstTable } from "./against-table.ts";
import { goalTable, table } from "./table.ts";
import { plot } from "./plot.ts";

const usage = `npm run bench -- [--only get,sessions] [--rounds 4] [--seconds 3] [--small] [--profile get] [--data FOLDER] [--results FOLDER]
  --only     lines by their names; also "start" and "search"
  --small    a small set of data, made anew: to see that everything runs
  --data     where the data is kept between runs (with the full set 8 GB, which take 20 minutes to make)
  --profile  lines, or "start", of which node's CPU profile of the service is shown instead
  --results  where results.md and results.svg go

npm run bench -- --against COMMIT [--only get,patch] [--members 1,3] [--rounds 6] [--seconds 3] [--out FILE]
  --against  compares this code with an older commit instead: get, sessions, contacts, create, create-key, patch, rename
  --members  sizes of the replica set
  --out      a file that gets the table as well`;

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    rounds: { type: "string" },
    seconds: { type: "string", default: "3" },
    small: { type: "boolean", default: false },
    data: { type: "string" },
    profile: { type: "string" },
    against: { type: "string" },
    members: { type: "string", default: "1,3" },
    out: { type: "string" },
    results: { type: "string", default: import.meta.dirname },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(usage);
  process.exit(0);
}
const thrownAway =
  values.small && values.data === undefined ? mkdtempSync(join(tmpdir(), "records-bench-")) : undefined;
const options: BenchOptions = {
  dataDir: thrownAway ?? values.data ?? join(cacheFolder(), "bench"),
  small: values.small,
  only: (values.profile ?? values.only)?.split(","),
  effort: { rounds: Number(values.rounds ?? (values.against === undefined ? 4 : 6)), seconds: Number(values.seconds) },
  go: true,
  say: (line) => console.log(line),
};
try {
  if (values.against !== undefined) await compare(values.against);
  else if (values.profile === undefined) write(await bench(options));
  else await profileLines(options);
} finally {
  if (thrownAway !== undefined) rmSync(thrownAway, { recursive: true, force: true });
}

async function compare(commit: string): Promise<void> {
  const { only, effort, say } = options;
  const members = values.members.split(",").map((count) => (count === "1" ? 1 : 3));
  const compared = await compareWith({ commit, members, only, effort, say });
  const notes = [
    `Each figure is the median of ${effort.rounds} rounds of ${effort.seconds} s over 8 connections, in which both sides come in turn on the same replica set and Redis.`,
    "CPU is processor time by /proc for each request; that of mongod is the sum of all members. The side that is not loaded runs idle.",
    machineNote(),
  ];
  const text = againstTable(compared, commit, notes);
  if (values.out !== undefined) writeFileSync(values.out, text);
  console.log(`\n${text}`);
}

function write({ results, notes }: Benched): void {
  const text = table(results, notes);
  mkdirSync(values.results, { recursive: true });
  writeFileSync(join(values.results, "results.md"), text);
  writeFileSync(join(values.results, "results.svg"), plot(results));
  console.log(`\n${text}\n${goalTable(results)}`);
}
