// vCard and NDJSON, read as address books write them, and every format, read back as it was written.
import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { expect, test } from "vitest";
import { csvHeader, csvRow } from "../../src/cli/formats/csv-writer.ts";
import type { Entry } from "../../src/cli/formats/entry.ts";
import { linesOf } from "../../src/cli/formats/lines.ts";
import { ndjsonLine, readNdjson } from "../../src/cli/formats/ndjson.ts";
import { vcard } from "../../src/cli/formats/vcard-writer.ts";
import { ContactItemSchema } from "../../src/gen/records/ingest/v1/items_pb.ts";
import { everyOf } from "../support/client.ts";
import { chunksOf, csv, held, said, vcards } from "./entries.ts";

test.each([
  ["=?UTF-8?Q?J=C3=BCrgen_Gr=C3=B6n?=", "Jürgen Grön"],
  ["=?utf-8?b?SsO8cmdlbg==?= Gold", "Jürgen Gold"],
  ["=?iso-8859-2?Q?=A3ukasz?= =?iso-8859-2?Q?_Wr=F3bel?=", "Łukasz Wróbel"],
  ["=?UTF-8?B?55Sw5Lit5YGl?= =?UTF-8?B?5aSq6YOO?=", "田中健太郎"],
  ["=?UTF-8?Q?Ana=20Re=C3?= =?UTF-8?Q?=A9?=", "Ana Reé"],
  ["=?x-unknown?Q?Ana?=", "=?x-unknown?Q?Ana?="],
  ["Why =? not", "Why =? not"],
])("the name %s with encoded words is read as %s", async (written, fullName) => {
  expect(held((await csv(`name\n${written}\n`))[0] as Entry)).toEqual({ fullName });
  expect(held((await vcards(`BEGIN:VCARD\nVERSION:3.0\nFN:${written}\nEND:VCARD\n`))[0] as Entry)).toEqual({
    fullName,
  });
});

test("reads cards of 3.0 and 4.0: folded lines, escapes, groups, the preferred email and phone, and the parts of names", async () => {
  const three =
    'BEGIN:VCARD\r\nVERSION:3.0\r\nN:Müller\\;X;Jörg;;Dr.;\r\nFN:J\\, O\'N\\; "Q" Mül\r\n ler\r\nitem1.EMAIL;type=INTERNET:j@example.com\r\nEMAIL;TYPE=pref:k@example.com\r\nTEL;TYPE=CELL:+49 1\r\nNOTE:one\\ntwo\\; th\r\n ree\\, \\\\;\r\nUID:abc\r\nPHOTO;ENCODING=b;TYPE=JPEG:AAAA\r\nEND:VCARD\r\n';
  const four =
    "begin:vcard\nVERSION:4.0\nN:Li;Bo;;;\nTEL;VALUE=uri;PREF=2:tel:+1\nTEL;VALUE=uri;PREF=1:tel:+44-2;ext=5\nEMAIL:b@example.com\nUID:urn:uuid:0b6f5d1e-7f0b-4d3a-9a53-0d8f0c6a5f11\nend:vcard\n";
  expect(said(await vcards(`${three}\r\n${four}`))).toEqual([
    [
      1,
      {
        externalId: "abc",
        fullName: 'J, O\'N; "Q" Müller',
        email: "k@example.com",
        phone: "+49 1",
        notes: "one\ntwo; three, \\;",
      },
    ],
    [
      15,
      {
        externalId: "urn:uuid:0b6f5d1e-7f0b-4d3a-9a53-0d8f0c6a5f11",
        fullName: "Bo Li",
        email: "b@example.com",
        phone: "+44-2 ext. 5",
      },
    ],
  ]);
});

const nasty = fc
  .string({
    unit: fc.constantFrom(
      "a",
      "Ö",
      "🙂",
      '"',
      "'",
      ",",
      ";",
      ":",
      "\\",
      "\n",
      "n",
      " ",
      "\t",
      "=",
      "+",
      "^",
      "|",
      "é".normalize("NFD"),
    ),
    minLength: 1,
    maxLength: 120,
  })
  .filter((text) => text.trim() === text && text !== "");
const line = nasty.map((text) => text.replaceAll("\n", " ").trim()).filter((text) => text !== "");
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const contacts = fc
  .record({
    id: fc.uuid(),
    externalId: optional(line),
    fullName: optional(nasty),
    email: fc.constant("a@example.com"),
    phone: optional(fc.oneof(fc.constantFrom("+49 (30) 1; 2", "1;2,3\\4", "1\nNOTE:injected"), nasty)),
    notes: optional(nasty),
    memory: optional(nasty),
    inferredName: optional(nasty),
  })
  .map((fields) =>
    create(ContactItemSchema, Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))),
  );

test("a contact that is written as CSV, vCard or NDJSON is read back unchanged", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(contacts, { minLength: 1, maxLength: 4 }), async (some) => {
      const same = (entries: readonly Entry[]): void =>
        expect(entries.map(held)).toEqual(some.map(({ $typeName: _name, ...fields }) => fields));
      same(await csv(csvHeader + some.map(csvRow).join("")));
      const cards = some.map((one) => vcard(one)).join("");
      for (const version of ["3.0", "4.0"]) same(await vcards(cards.replaceAll("VERSION:3.0", `VERSION:${version}`)));
      const lines = some
        .map((value) => ndjsonLine({ $typeName: "records.ingest.v1.Record", record: { case: "contact", value } }))
        .join("");
      same(await everyOf(readNdjson(linesOf(chunksOf(lines)))));
    }),
    { numRuns: 150 },
  );
});

test("a text of a contact is one property of its card, whatever its content", () => {
  const text = "1\\2\r\nNOTE:injected\nEND:VCARD,3;4";
  const names = ["id", "externalId", "fullName", "email", "phone", "notes", "memory", "inferredName"] as const;
  for (const name of names) {
    const card = vcard(create(ContactItemSchema, { [name]: text }));
    expect(card.split("\r\n").filter((line) => /^(NOTE|END)\b/.test(line))).toEqual([
      ...(name === "notes" ? [expect.stringMatching(/^NOTE:1/)] : []),
      "END:VCARD",
    ]);
    expect(card).not.toMatch(/[^\r]\n/);
  }
});

test("a row of CSV has the exact times of a contact, and a card has no line of more than 75 bytes", async () => {
  const at = (text: string) => timestampFromDate(new Date(text));
  const contact = create(ContactItemSchema, {
    id: "0b6f5d1e-7f0b-4d3a-9a53-0d8f0c6a5f11",
    fullName: "🙂é".repeat(60),
    createdAt: at("2025-01-01T00:00:00.001Z"),
    updatedAt: at("2025-01-02T00:00:00Z"),
    archivedAt: at("2025-01-03T00:00:00Z"),
  });
  expect((await csv(csvHeader + csvRow(contact))).map(held)).toEqual(
    [{ ...contact, $typeName: undefined }].map(({ $typeName: _name, ...fields }) => fields),
  );
  for (const folded of vcard(contact).split("\r\n")) expect(Buffer.byteLength(folded)).toBeLessThanOrEqual(75);
  expect((await vcards(vcard(contact))).map(held)).toMatchObject([{ fullName: contact.fullName }]);
});

test("a line of NDJSON that is not an object, or holds two records, is an error with a reason", async () => {
  const entries = await everyOf(
    readNdjson(linesOf(chunksOf('7\n[]\n{"contact":{"full_name":"Ann"},"session":{"title":"x"}}\n'))),
  );
  const none = expect.stringContaining('is not a record: must be an object such as {"contact": {…}}');
  expect(said(entries)).toEqual([
    [1, none],
    [2, none],
    [3, "has contact and session: must contain only one record"],
  ]);
});

test("a property with any number of parameters is read in linear time", async () => {
  const parameters = ";TYPE=a".repeat(200_000);
  const text = `BEGIN:VCARD\nVERSION:3.0\nFN:Ann\nTEL${parameters}:1\nNOTE${";".repeat(20_000)}\nEND:VCARD\n`;
  expect(said(await vcards(text))).toEqual([[1, { fullName: "Ann", phone: "1" }]]);
});
