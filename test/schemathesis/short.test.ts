// The short form of `npm run schemathesis`: what the served document says and what the service returns are the same.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Program } from "../fixtures/service/program.ts";
import { startProgram } from "../fixtures/service/program.ts";
import { run } from "../examples/run.ts";

// It may have to be fetched first.
vi.setConfig({ testTimeout: 900_000 });

const folder = mkdtempSync(join(tmpdir(), "records-schemathesis-test-"));
const dataDir = join(folder, "data");
let program: Program;
beforeAll(async () => {
  program = await startProgram(dataDir, { RATE_LIMIT: "1000000", RATE_BURST: "1000000" });
});
afterAll(async () => {
  await program.end();
  rmSync(folder, { recursive: true, force: true });
});

async function schemathesis(...args: string[]): Promise<{ readonly status: number; readonly said: string }> {
  const { status, out, error } = await run(
    process.execPath,
    ["--import", "tsx", "scripts/schemathesis.ts", "--short", "--demo", join(dataDir, "demo.json"), ...args],
    process.env as Record<string, string>,
  );
  return { status, said: out + error };
}

test("some 400 requests generated from the document get the documented responses, also those of the key operations [OAS-03, OAS-05]", async () => {
  const { status, said } = await schemathesis();
  expect(status, said).toBe(0);
  const [, requests, findings] = /^(\d+) requests to 15 operations, (\d+) findings \(seed \d+\)$/m.exec(said) ?? [];
  expect(Number(requests)).toBeGreaterThanOrEqual(200);
  expect(findings).toBe("0");
});
