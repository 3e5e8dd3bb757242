// `npm run drill`: runs drills in their long form, then their controls, and checks both.
import { parseArgs } from "node:util";
import { drills } from "./all.ts";
import type { Drill, Report, Run } from "./drill.ts";

const usage = `npm run drill -- [NAME …] [--short] [--no-controls] [--list] [--from COMMIT]
Runs all drills if none is named. "upgrade" runs the code of --from alongside. Exits with 1 if a promise does not hold or a control goes unnoticed.

${drills.map(({ name, promise }) => `  ${name.padEnd(16)} ${promise}`).join("\n")}`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: "boolean", default: false },
    list: { type: "boolean", default: false },
    short: { type: "boolean", default: false },
    "no-controls": { type: "boolean", default: false },
    from: { type: "string" },
  },
});
if (values.help || values.list) {
  console.log(usage);
  process.exit(0);
}
const unknown = positionals.filter((wanted) => !drills.some(({ name }) => name === wanted));
if (unknown.length > 0) {
  console.error(`Unknown drill: ${unknown.join(", ")}\n\n${usage}`);
  process.exit(2);
}

const verdicts: string[] = [];
for (const drill of drills.filter(({ name }) => positionals.length === 0 || positionals.includes(name)))
  await check(drill);
console.log(`\n${verdicts.join("\n")}`);
// Open connections of the drills' clients must not keep the process alive.
process.exit();

async function check({ name, promise, run, controls }: Drill): Promise<void> {
  console.log(`\n# ${name}: ${promise}`);
  const { violations, unprovoked = [] } = await timed(run);
  const holds = violations.length + unprovoked.length === 0;
  verdict(name, holds, holds ? "holds" : `DOES NOT HOLD: ${violations.length} violations${missing(unprovoked)}`);
  if (values["no-controls"]) return;
  for (const { broken, run } of controls) {
    console.log(`\n# ${name}, control: ${broken}`);
    const { violations, unprovoked = [] } = await timed(run);
    const seen = violations.length > 0 && unprovoked.length === 0;
    verdict(name, seen, seen ? `control noticed: ${broken}` : `CONTROL UNNOTICED: ${broken}${missing(unprovoked)}`);
  }
}

function missing(unprovoked: readonly string[]): string {
  return unprovoked.length === 0 ? "" : `; faults that could not be provoked: ${unprovoked.length}`;
}

function verdict(name: string, right: boolean, words: string): void {
  const line = `${name.padEnd(16)} ${words}`;
  console.log(line);
  verdicts.push(line);
  if (!right) process.exitCode = 1;
}

async function timed(run: Run): Promise<Report> {
  const begun = performance.now();
  const elapsed = (): string => `${((performance.now() - begun) / 1_000).toFixed(1).padStart(7)} s`;
  const report = await run(values.short ? "short" : "long", (line) => console.log(`${elapsed()}  ${line}`), {
    from: values.from,
  });
  for (const [figure, value] of Object.entries(report.figures))
    console.log(`${elapsed()}  ${figure}: ${typeof value === "number" ? Number(value.toPrecision(4)) : value}`);
  for (const fault of report.unprovoked ?? []) console.log(`${elapsed()}  NOT PROVOKED ${fault}`);
  for (const violation of report.violations.slice(0, 20)) console.log(`${elapsed()}  VIOLATION ${violation}`);
  return report;
}
