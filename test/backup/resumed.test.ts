// An export that continues an earlier one: it never removes the files of another service.
import { readFileSync, writeFileSync } from "node:fs";
import { createHash, randomUUID } from "node:crypto";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { addFile, fileOf, writeManifest } from "../../src/cli/backup/manifest.ts";
import { cli, useFolder } from "../cli/cli.ts";
import { newClient, useService } from "../support/client.ts";

// A start of the program takes its time on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

const service = useService();
const folder = useFolder();

/** Adds a complete file of an account to the backup. Returns its path. */
async function addAccount(backup: string, id: string): Promise<string> {
  const [file, text] = [fileOf(id), "{}\n"];
  writeFileSync(join(backup, file), text);
  const sha256 = createHash("sha256").update(text).digest("hex");
  await addFile(backup, { file, account_id: id, bytes: text.length, sha256, documents: {} });
  return join(backup, file);
}

test("an export to an incomplete backup of another service fails, and keeps its files [OPS-62]", async () => {
  const existing = await newClient(service());
  const backup = folder.path(".");
  await writeManifest(backup, undefined, []);
  const path = await addAccount(backup, randomUUID());
  const other = await cli(service(), ["export", "--all", backup]);
  expect([other.code, other.stderr]).toEqual([1, expect.stringContaining("exists in this service. Check --url")]);
  expect(readFileSync(path, "utf8")).toBe("{}\n");
  await addAccount(backup, existing.id);
  expect((await cli(service(), ["export", "--all", backup])).code).toBe(0);
});
