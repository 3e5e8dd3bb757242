// The source of an import: a file that changes after the import was named by its contents.
import { appendFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { openSource } from "../../src/cli/import/source.ts";
import { useFolder } from "./cli.ts";

const folder = useFolder();
const before = "email,full_name\nann@example.com,Ann Lee\nbo@example.com,Bo Day\n";

async function entriesAfter(change: (file: string) => void): Promise<number> {
  const file = folder.path("contacts.csv");
  writeFileSync(file, before);
  const source = await openSource({
    file,
    format: undefined,
    encoding: "utf-8",
    map: [],
    onColumns: () => undefined,
  });
  await source.name("an account");
  change(file);
  let entries = 0;
  for await (const _entry of source.entries()) entries++;
  source.close();
  return entries;
}

test.each([
  ["its content is replaced", (file: string) => writeFileSync(file, before.replaceAll("Ann", "Eve"))],
  ["it is cut", (file: string) => writeFileSync(file, before.slice(0, 40))],
])("a file fails when %s: its records may be incomplete", async (_what, change) => {
  await expect(entriesAfter(change)).rejects.toMatchObject({
    code: "changed",
    message: expect.stringContaining("changed while it was imported"),
  });
});

test("what is appended meanwhile belongs to another import", async () => {
  expect(await entriesAfter((file) => appendFileSync(file, "eve@example.com,Eve Fox\n"))).toBe(2);
  expect(await entriesAfter(() => undefined)).toBe(2);
});

test.each([
  ["records.json", '{"contact":{"full_name":"Ann"}}', "ndjson"],
  ["list.json", '[\n  {"session": {"title":"Kickoff"}}\n]', "ndjson"],
  ["empty.json", "", "ndjson"],
  ["whisper.json", '{"text":"Hello","segments":[]}', "transcript"],
  ["fireflies.json", '{"data":{"transcript":{"sentences":[]}}}', "transcript"],
  ["sentences.json", '\uFEFF[{"speaker":"Ann","text":"Hello"}]', "transcript"],
  ["other.ndjson", '{"text":"Hello"}', "ndjson"],
  ["Kickoff.md", "**Ann:** Hello", "transcript"],
])("the format of %s is found by its name and its JSON [OPS-04]", async (name, content, format) => {
  const file = folder.write(name, content);
  const source = await openSource({ file, format: undefined, encoding: undefined, onColumns: () => undefined });
  expect(source.format).toBe(format);
  source.close();
});
