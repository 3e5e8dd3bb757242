// Go clients that are generated, and documents that oapi-codegen cannot digest.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { useGenerators } from "./clients.ts";

// The generator may have to be fetched and compiled first.
vi.setConfig({ testTimeout: 900_000 });

const generators = useGenerators();
const folder = mkdtempSync(join(tmpdir(), "records-clients-test-"));
const served = readFileSync(join(import.meta.dirname, "../../src/gen/openapi.json"), "utf8");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("oapi-codegen generates a Go client that compiles and calls the service [OAS-02, OAS-03]", async () => {
  const { status, out, error } = await generators("oapi-codegen");
  expect(status, error).toBe(0);
  expect(out).toMatch(/^oapi-codegen +Go +v\S+ +yes +yes +yes +0$/m);
});

test("the descriptor set generates a Connect client for Go that compiles and calls the service [WIR-01]", async () => {
  const { status, out, error } = await generators("connect-go");
  expect(status, error).toBe(0);
  expect(out).toMatch(/^connect-go +Go +v\S+ +yes +yes +yes +0$/m);
});

test.each([
  ["the generator detects a missing schema", '"NoteKind": {', '"NoteSort": {', "NO +NO +NO"],
  [
    "the compiler detects a schema with the name of a response",
    "GetContactResult",
    "GetContactResponse",
    "yes +NO +NO",
  ],
])("%s", async (_title, from, to, steps) => {
  const file = join(folder, "openapi.json");
  const wrong = served.replaceAll(from, to);
  expect(wrong).not.toBe(served);
  writeFileSync(file, wrong);
  const { status, out, error } = await generators("oapi-codegen", "--document", file);
  expect(status, error).toBe(1);
  expect(out).toMatch(new RegExp(`^oapi-codegen +Go +v\\S+ +${steps} +0$`, "m"));
});
