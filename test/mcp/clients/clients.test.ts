// The short form of `npm run clients`: each client signs in, calls every tool, refreshes, and sends a request after a
// sign-out.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { testCacheDir } from "../../fixtures/databases/cache-dir.ts";
import type { Program } from "../../fixtures/service/program.ts";
import { startProgram } from "../../fixtures/service/program.ts";
import { clientKinds } from "../../../scripts/mcp-clients/kinds.ts";
import type { Place } from "../../../scripts/mcp-clients/user.ts";
import { placeOf } from "../../../scripts/mcp-clients/user.ts";
import { labelOf, tryClient, whyLeftOut } from "../../../scripts/mcp-clients/run.ts";

// Clients may have to be fetched first.
vi.setConfig({ testTimeout: 900_000 });

const passed = { signIn: [], tools: [], refresh: [], afterSignOut: [] };
/** Where it is set, as in CI, a client that cannot be fetched is a failure. */
const isRequired = process.env["MCP_CLIENTS"] === "required";
const kinds = clientKinds.filter(({ isShort }) => isShort);
const cacheDir = testCacheDir();
const folder = mkdtempSync(join(tmpdir(), "records-clients-test-"));
let program: Program;
let place: Place;
beforeAll(async () => {
  program = await startProgram(join(folder, "data"), { RATE_LIMIT: "1000", RATE_BURST: "1000" });
  place = placeOf(program.demo());
});
afterAll(async () => {
  await program.end();
  rmSync(folder, { recursive: true, force: true });
});

test.for(kinds.map((kind) => [labelOf(kind), kind] as const))(
  "%s signs in without any configuration, calls every tool, refreshes, and is directed to a new sign-in after the sign-out [MCP-02, MCP-03, MCP-06, OAU-10, OAU-11, OAU-15, OAU-17]",
  async ([label, kind], { skip }) => {
    const reason = whyLeftOut(kind, cacheDir);
    if (reason !== undefined && !isRequired) {
      console.warn(`${label} is LEFT OUT: ${reason}`);
      skip(reason);
    }
    expect(reason).toBeUndefined();
    const { verdict } = await tryClient(kind, place, { cacheDir, folder });
    expect(verdict).toEqual(passed);
  },
);
