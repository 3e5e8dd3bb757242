// The short form of `npm run schemathesis`: what the served document says and what the service returns are the same.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";

// It may have to be fetched first, and starts a service with everything that it needs.
vi.setConfig({ testTimeout: 900_000 });

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "records-schemathesis-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function schemathesis(...args: string[]): { readonly status: number | null; readonly said: string } {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--import", "tsx", "scripts/schemathesis.ts", "--short", ...args],
    { cwd: root, encoding: "utf8" },
  );
  return { status, said: stdout + stderr };
}

test("some 400 requests generated from the document get the documented responses, also those of the key operations [OAS-03, OAS-05]", () => {
  const { status, said } = schemathesis();
  expect(status, said).toBe(0);
  const [, requests, findings] = /^(\d+) requests to 15 operations, (\d+) findings \(seed \d+\)$/m.exec(said) ?? [];
  expect(Number(requests)).toBeGreaterThanOrEqual(200);
  expect(findings).toBe("0");
});

test("detects a document that does not match the service", () => {
  const document = JSON.parse(readFileSync(join(root, "src/gen/openapi.json"), "utf8")) as { paths: object };
  const paths = Object.entries(document.paths).filter(([path]) => path === "/v1/contacts");
  const text = JSON.stringify({ ...document, paths: Object.fromEntries(paths) });
  const wrong = text.replaceAll('"full_name"', '"whole_name"');
  expect(wrong).not.toBe(text);
  const file = join(folder, "openapi.json");
  writeFileSync(file, wrong);
  const { status, said } = schemathesis("--document", file);
  expect(status, said).toBe(1);
  expect(said).toMatch(/^\d+ requests to 2 operations, [1-9]\d* findings/m);
});
