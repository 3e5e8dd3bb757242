// The manifest of a backup names files of its own folder, and nothing else.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { addFile, manifestFile, readManifest, serviceFile, writeManifest } from "../../src/cli/backup/manifest.ts";

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "records-manifest-"))));
afterEach(() => rmSync(folder, { recursive: true }));

const entry = (file: string) => ({
  file,
  account_id: file === serviceFile ? null : file.replace(".ndjson", ""),
  bytes: 1,
  sha256: "0",
  documents: { accounts: 1 },
});
const ofAccount = "01890af0-0000-7000-8000-000000000000.ndjson";

test("the files of a manifest are those of the service and of accounts [OPS-62]", async () => {
  await writeManifest(folder, undefined, [entry(serviceFile)]);
  await addFile(folder, entry(ofAccount));
  expect([...((await readManifest(folder))?.files.keys() ?? [])]).toEqual([serviceFile, ofAccount]);
});

test.each(["../elsewhere.ndjson", `/tmp/${ofAccount}`, `../${ofAccount}`, `sub/${serviceFile}`, "", "."])(
  "rejects a manifest with the file name '%s', which would lead out of its folder [OPS-62]",
  async (file) => {
    await writeManifest(folder, undefined, [entry(serviceFile), entry(file)]);
    await expect(readManifest(folder)).rejects.toThrow(
      `${join(folder, manifestFile)}, line 3, is damaged. Use another copy of the backup.`,
    );
  },
);

test("ignores a line that was cut off, so that its file is written again [OPS-62]", async () => {
  await writeManifest(folder, undefined, [entry(serviceFile)]);
  writeFileSync(join(folder, manifestFile), `{"file":"${ofAccount}`, { flag: "a" });
  expect([...((await readManifest(folder))?.files.keys() ?? [])]).toEqual([serviceFile]);
});
