// `npm run clients`: real MCP clients sign in from scratch to a service started for them, call every tool, refresh, and
// send a request after a sign-out.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { testCacheDir } from "../test/fixtures/databases/cache-dir.ts";
import type { Program } from "../test/fixtures/service/program.ts";
import { startProgram } from "../test/fixtures/service/program.ts";
import { hasPassed } from "./mcp-clients/checker.ts";
import { clientKinds } from "./mcp-clients/kinds.ts";
import { placeOf } from "./mcp-clients/user.ts";
import type { Row } from "./mcp-clients/run.ts";
import { labelOf, tableOf, tryClient, whyLeftOut } from "./mcp-clients/run.ts";

const ids = [...new Set(clientKinds.map(({ id }) => id))];
const usage = `npm run clients -- [--short] [--only <client>]
  --short   each client in one protocol revision, as the tests do
  --only    one of ${ids.join(", ")}; may be repeated
Exits with 1 if a client fails or cannot be run, and with 2 if the run itself fails.`;

const { values } = parseArgs({
  options: {
    help: { type: "boolean", default: false },
    short: { type: "boolean", default: false },
    only: { type: "string", multiple: true, default: ids },
  },
});
const unknown = values.only.filter((id) => !ids.includes(id));
if (values.help || unknown.length > 0) {
  console.log(unknown.length > 0 ? `unknown: ${unknown.join(", ")}\n\n${usage}` : usage);
  process.exitCode = unknown.length > 0 ? 2 : 0;
} else process.exitCode = await main();

async function main(): Promise<number> {
  const cacheDir = testCacheDir();
  const folder = mkdtempSync(join(tmpdir(), "records-clients-"));
  const leftOut: string[] = [];
  const rows: Row[] = [];
  let program: Program | undefined;
  try {
    program = await startProgram(join(folder, "data"), { RATE_LIMIT: "1000", RATE_BURST: "1000" });
    for (const kind of clientKinds) {
      if (!values.only.includes(kind.id) || (values.short && !kind.isShort)) continue;
      console.log(`${labelOf(kind)} ...`);
      const reason = whyLeftOut(kind, cacheDir);
      if (reason !== undefined) {
        leftOut.push(`${labelOf(kind)} is LEFT OUT: ${reason}`);
        continue;
      }
      rows.push(await tryClient(kind, placeOf(program.demo()), { cacheDir, folder }));
    }
  } catch (error) {
    console.error(`clients: ${error instanceof Error ? error.message : String(error)}`);
    return 2;
  } finally {
    await program?.end();
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(`\n${[tableOf(rows), ...leftOut].join("\n")}`);
  return leftOut.length === 0 && rows.length > 0 && rows.every(({ verdict }) => hasPassed(verdict)) ? 0 : 1;
}
