// `npm run bench`: prepares the data, starts the service and its peers, measures them side by side, and writes the results.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { BenchOptions, Benched } from "./bench.ts";
import { bench, profileLines } from "./bench.ts";
import { cacheFolder } from "./ground.ts";
import { goalTable, table } from "./table.ts";
import { plot } from "./plot.ts";

const usage = `npm run bench -- [--only get,sessions] [--rounds 4] [--seconds 3] [--small] [--profile get] [--data FOLDER] [--results FOLDER]
  --only     lines by their names; also "start" and "search"
  --small    a small set of data, made anew: to see that everything runs
  --data     where the data is kept between runs (with the full set 8 GB, which take 20 minutes to make)
  --profile  lines, or "start", of which node's CPU profile of the service is shown instead
  --results  where results.md and results.svg go`;

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    rounds: { type: "string", default: "4" },
    seconds: { type: "string", default: "3" },
    small: { type: "boolean", default: false },
    data: { type: "string" },
    profile: { type: "string" },
    results: { type: "string", default: import.meta.dirname },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(usage);
  process.exit(0);
}
const thrownAway = values.small && values.data === undefined ? mkdtempSync(join(tmpdir(), "records-bench-")) : undefined;
const options: BenchOptions = {
  dataDir: thrownAway ?? values.data ?? join(cacheFolder(), "bench"),
  small: values.small,
  only: (values.profile ?? values.only)?.split(","),
  effort: { rounds: Number(values.rounds), seconds: Number(values.seconds) },
  go: true,
  say: (line) => console.log(line),
};
try {
  if (values.profile === undefined) write(await bench(options));
  else await profileLines(options);
} finally {
  if (thrownAway !== undefined) rmSync(thrownAway, { recursive: true, force: true });
}

function write({ results, notes }: Benched): void {
  const text = table(results, notes);
  mkdirSync(values.results, { recursive: true });
  writeFileSync(join(values.results, "results.md"), text);
  writeFileSync(join(values.results, "results.svg"), plot(results));
  console.log(`\n${text}\n${goalTable(results)}`);
}
