// The long import drill: a million notes are imported on the command line, with kills and resumptions; then every
// record and every endpoint is checked.
import { parseArgs } from "node:util";
import { drillBulk } from "../test/drills/bulk/fixture.ts";

const usage = "npm run drill:import -- [--contacts 100000] [--sessions 100000] [--notes 1000000]";

const { values } = parseArgs({
  options: {
    help: { type: "boolean", default: false },
    contacts: { type: "string", default: "100000" },
    sessions: { type: "string", default: "100000" },
    notes: { type: "string", default: "1000000" },
  },
});
if (values.help) {
  console.log(usage);
  process.exit(0);
}
const size = { contacts: Number(values.contacts), sessions: Number(values.sessions), notes: Number(values.notes) };
if (!Object.values(size).every((count) => Number.isInteger(count) && count > 0)) throw new Error(usage);

const { verdict, large, small } = await drillBulk(size, { contacts: 100, sessions: 100, notes: 1_000 }, console.log);
const faults = [...verdict.faults];
for (const [name, { status, commands, examined }] of Object.entries(large)) {
  const same =
    JSON.stringify({ commands, examined }) ===
    JSON.stringify({ commands: small[name]?.commands, examined: small[name]?.examined });
  const own = ["a contact", "a session", "a contact changed"].includes(name);
  if (status >= 300 || !(same || own))
    faults.push(`${name}: ${status}, with ${same ? "the same commands as" : "other commands than"} on a small account`);
  if (!same) console.log(`on a small account: ${JSON.stringify(small[name])}`);
  console.log(
    `${String(status)}  ${name}: ${commands.join(", ")}; ${examined
      .flatMap(({ reads }) => reads)
      .map(({ keys, documents }) => `${keys} keys, ${documents} documents`)
      .join("; ")}`,
  );
}
console.log(
  `memory of the service: at most ${verdict.memory.first} MB in the first third, ${verdict.memory.last} MB in the last`,
);
console.log(verdict.summary);
console.log(
  faults.length === 0
    ? `complete after ${verdict.seconds.toFixed(0)} s: nothing missing, nothing duplicated`
    : faults.join("\n"),
);
process.exitCode = faults.length === 0 ? 0 : 1;
