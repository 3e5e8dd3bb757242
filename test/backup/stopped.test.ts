// A restore that is rejected after its check: the command names the file and what to do.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createHash, randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Code, ConnectError } from "@connectrpc/connect";
import { BSON, UUID } from "mongodb";
import { expect, onTestFinished, test } from "vitest";
import { lineOf } from "../../src/cli/backup/documents.ts";
import { addFile, complete, fileOf, writeManifest } from "../../src/cli/backup/manifest.ts";
import { runRestore } from "../../src/cli/backup/run-restore.ts";
import type { Link } from "../../src/cli/link.ts";
import { createOutput } from "../../src/cli/output.ts";

/** Writes a backup with one account. Returns its folder. */
async function writeBackup(id: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "records-stopped-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const text = lineOf({ collection: "accounts", bson: BSON.serialize({ _id: UUID.createFromHexString(id) }) });
  const file = fileOf(id);
  writeFileSync(join(folder, file), text);
  await writeManifest(folder, undefined, []);
  const sha256 = createHash("sha256").update(text).digest("hex");
  await addFile(folder, { file, account_id: id, bytes: text.length, sha256, documents: { accounts: 1 } });
  await complete(folder, []);
  return folder;
}

test("a restore that the database rejects after the check names the file, and what to do [OPS-62]", async () => {
  const id = randomUUID();
  const restoreDocuments = ({ checkOnly }: { readonly checkOnly: boolean }) =>
    checkOnly
      ? Promise.resolve({ complete: false, claims: [] })
      : Promise.reject(new ConnectError("Another account has this email.", Code.AlreadyExists));
  const link = { url: "", client: () => ({ restoreDocuments }), close: () => undefined } as unknown as Link;
  const output = createOutput({ json: true, color: false }, {});
  await expect(runRestore(output, link, await writeBackup(id), {})).rejects.toThrow(
    `The restore stopped in ${id}.ndjson, because the database has changed since the check: Another account has this email. What was restored stays. Remove what is in the way, then run the same command again.`,
  );
});
