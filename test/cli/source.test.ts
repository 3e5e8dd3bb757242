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
  ["contacts.vcf.txt", "BEGIN:VCARD\nFN:Ann\nEND:VCARD\n", "vcard"],
  ["contacts", "\uFEFF\nbegin:vcard\nfn:Ann\nend:vcard\n", "vcard"],
  ["events.csv", "BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n", "icalendar"],
  ["captions.json", "WEBVTT\n\n00:01.000 --> 00:02.000\nHello\n", "transcript"],
  ["outlook.txt", "First Name\tLast Name\tE-mail Address\nAnn\tLee\tann@example.com\n", "csv"],
  ["phones.txt", "Name|Phone\nAnn Lee|\nBo Day|030 1234567\n", "csv"],
  ["turns.csv", "Name,Time,Message\nAnn,0:01,Hello\n", "transcript"],
  ["turns.tsv", "Start\tSpeaker Name\tText\n0.5\tAnn\tHello\n", "transcript"],
  ["people.csv", "Name,Text\nAnn,Hello\n", "csv"],
  ["form.csv", "Name,Time,Message,Email\nAnn,10:01,Hello,ann@example.com\n", "csv"],
  ["guests.csv", "Name,Date,Message\nAnn,2026-03-02,Hello\n", "csv"],
  ["records.txt", '{"contact":{"full_name":"Ann"}}\n', "ndjson"],
  [
    "email.txt",
    "Name, Email\nThe form asks for both.\nAnn: yes, and for a phone\nBo: ask ann@example.com\n",
    "transcript",
  ],
  ["note.md", "<html-like> tags\nAnn: Hello\n", "transcript"],
  ["sale.md", "<head of sales>\nAnn: Hello\n", "transcript"],
  ["name.txt", "Name of the meeting, and the email about it\n", "transcript"],
  ["irc.txt", "<Ann> Hello\n<Bo> Hi\n", "transcript"],
])("the format of %s is found by its beginning, its name and its JSON [OPS-04]", async (name, content, format) => {
  const file = folder.write(name, content);
  const source = await openSource({ file, format: undefined, encoding: undefined, onColumns: () => undefined });
  expect(source.format).toBe(format);
  source.close();
});

const notText =
  "is not a text: it may be an archive, a spreadsheet or a document. Unpack it, or save it as CSV, vCard, iCalendar, captions or plain text.";
const isPage =
  "is HTML or XML. A download can be the page of a sign-in. Otherwise, export CSV, vCard, iCalendar, captions or plain text instead.";
const isBackup = "is a file of a backup. To restore it, run records restore with its folder.";
test.each([
  ["manifest.ndjson", '{"records_backup":1,"id":"280cc761-8962-4159-a059-d41ca8aa3921"}\n', isBackup],
  ["ann.ndjson", '{"collection":"contacts","document":{"_id":1}}\n', isBackup],
  ["takeout.zip", "PK\x03\x04\x14\0\0\0\b\0\0\0!\0", notText],
  ["people.xlsx", "PK\x03\x04\x14\0\x06\0\b\0\0\0!\0", notText],
  ["people.csv", "PK\x03\x04\x14\0\x06\0\b\0\0\0!\0", notText],
  ["contacts.vcf.gz", "\x1f\x8b\b\0\0\0\0\0\0\x03", notText],
  ["Kickoff.pdf", "%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\n", notText],
  ["Kickoff.txt", "{\\rtf1\\ansi Ann: Hello\\par}", notText],
  ["calendar.ics", "\n<!DOCTYPE html><html><body>Sign in</body></html>", isPage],
  ["notes.enex", '\uFEFF<?xml version="1.0"?>\n<en-export></en-export>', isPage],
])("%s, in which no format looks for records, is rejected with what to do instead", async (name, content, why) => {
  const file = folder.write(name, content);
  const open = openSource({ file, format: undefined, encoding: undefined, onColumns: () => undefined });
  await expect(open).rejects.toMatchObject({ exitCode: 2, message: `${file} ${why}` });
});

test("a note about HTML is read if the user says that it is a transcript", async () => {
  const file = folder.write("note.md", "<html>\nAnn: This tag comes first.\n");
  const source = await openSource({ file, format: "transcript", encoding: undefined, onColumns: () => undefined });
  expect(await everyOf(source.entries())).toHaveLength(2);
});

test("a text with a few control characters is read", async () => {
  const file = folder.write("contacts.csv", "email,full_name,notes\nann@example.com,Ann Lee,a\x1eb\x02c\n");
  const source = await openSource({ file, format: undefined, encoding: undefined, onColumns: () => undefined });
  expect((await everyOf(source.entries())).map(held)).toEqual([
    { email: "ann@example.com", fullName: "Ann Lee", notes: "a\x1eb\x02c" },
  ]);
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
