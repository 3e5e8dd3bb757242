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
import { createBrowserUser, placeOf } from "../../../scripts/mcp-clients/user.ts";
import { labelOf, tableOf, tryClient, whyLeftOut } from "../../../scripts/mcp-clients/run.ts";

// Clients may have to be fetched first.
vi.setConfig({ testTimeout: 900_000 });

const passed = { signIn: [], tools: [], refresh: [], afterSignOut: [] };
/** Where it is set, as in CI, a client that cannot be fetched is a failure. */
const isRequired = process.env["MCP_CLIENTS"] === "required";
const kinds = clientKinds.filter(({ isShort }) => isShort);
/** The control needs one client, and this one is always there. */
const typescriptV2 = kinds.filter(({ id }) => id === "typescript-v2");
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

test.for(typescriptV2)("reports a sign-out that ends nothing", async (kind) => {
  const user = { ...createBrowserUser(place), signOut: async (): Promise<void> => undefined };
  const row = await tryClient(kind, place, { cacheDir, folder }, user);
  expect(row.verdict).toMatchObject({ signIn: [], tools: [], refresh: [] });
  expect(row.verdict.afterSignOut).toEqual(expect.arrayContaining(["data was returned after the sign-out"]));
  expect(tableOf([row])).toMatch(/ FAILED\n/);
});
