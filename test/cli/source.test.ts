// The source of an import: a file that changes after the import was named by its contents.
import { appendFileSync, chmodSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { openSource } from "../../src/cli/import/source.ts";
import { everyOf } from "../support/client.ts";
import { useFolder } from "./cli.ts";
import { held } from "./entries.ts";

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

// The administrator may read every file.
if (process.getuid?.() !== 0)
  test("a file that its reader has no right to read is rejected, with 2", async () => {
    const file = folder.write("locked.csv", before);
    chmodSync(file, 0o200);
    await expect(
      openSource({ file, format: undefined, encoding: undefined, onColumns: () => undefined }),
    ).rejects.toMatchObject({ exitCode: 2, message: `${file} cannot be read: you do not have permission.` });
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
  ["contacts.json", '[{"name":"Ann","email":"ann@example.com"}]', "csv"],
  [
    "sync.json",
    '{"participants":[{"email":"ann@example.com"}],"transcript":[{"speaker":"Ann","text":"Hi"}]}',
    "transcript",
  ],
  ["packages.json", '{"list":[{"name":"left-pad","version":"1"}]}', "transcript"],
  ["other.ndjson", '{"text":"Hello"}', "ndjson"],
  ["Kickoff.md", "**Ann:** Hello", "transcript"],
])("the format of %s is found by its name and its JSON [OPS-04]", async (name, content, format) => {
  const file = folder.write(name, content);
  const source = await openSource({ file, format: undefined, encoding: undefined, onColumns: () => undefined });
  expect(source.format).toBe(format);
  source.close();
});

const ann = { fullName: "Ann Lee", email: "ann@example.com", phone: "+44 20 7946 0958" };
const parts = { first_name: "Ann", last_name: "Lee" };
test.each([
  ["a list", [{ ...parts, email: ann.email, phone: ann.phone, tags: ["a"], is_active: true }]],
  [
    "a list of Telegram",
    { contacts: { list: [{ ...parts, phone_number: ann.phone, email: ann.email }] }, other: [{ id: 1 }] },
  ],
  ["HubSpot", { results: [{ properties: { firstname: "Ann", lastname: "Lee", email: ann.email, phone: ann.phone } }] }],
  [
    "Pipedrive",
    { data: [{ name: "Ann Lee", email: [{ value: ann.email, primary: true }], phone: [{ value: ann.phone }] }] },
  ],
  [
    "Google",
    {
      connections: [
        {
          names: [{ displayName: "Ann Lee", familyName: "Lee" }],
          emailAddresses: [{ value: ann.email, type: "work" }],
          phoneNumbers: [
            { value: "030 1234567", type: "work" },
            { value: ann.phone, type: "mobile" },
          ],
        },
      ],
    },
  ],
  [
    "Microsoft",
    {
      value: [
        {
          displayName: "Ann Lee",
          mobilePhone: ann.phone,
          businessPhones: ["1"],
          emailAddresses: [{ name: "x", address: ann.email }],
        },
      ],
    },
  ],
])("contacts in the JSON of other programs are read like rows of CSV: %s [OPS-04]", async (_what, json) => {
  const file = folder.write("contacts.json", JSON.stringify(json, null, 1));
  const source = await openSource({ file, format: undefined, encoding: undefined, onColumns: () => undefined });
  await source.check();
  expect((await everyOf(source.entries())).map(held)).toEqual([ann]);
  expect(source.columnFields()).toEqual(["full_name", "email", "phone"]);
  source.close();
});
