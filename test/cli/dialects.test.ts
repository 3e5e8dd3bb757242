// Contacts written in the dialect of each program and imported again are the same contacts.
import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, test } from "vitest";
import { csvWriter } from "../../src/cli/formats/csv-writer.ts";
import { linesOf } from "../../src/cli/formats/lines.ts";
import { ndjsonLine, readNdjson } from "../../src/cli/formats/ndjson.ts";
import { contactRecord } from "../../src/cli/formats/entry.ts";
import { vcard } from "../../src/cli/formats/vcard-writer.ts";
import type { ContactItem } from "../../src/gen/records/ingest/v1/items_pb.ts";
import { ContactItemSchema } from "../../src/gen/records/ingest/v1/items_pb.ts";
import { inForm } from "../support/form.ts";
import { everyOf } from "../support/client.ts";
import { chunksOf, held, read } from "./entries.ts";

type Fields = { [Name in "fullName" | "email" | "phone" | "notes"]?: string };
type Write = (contacts: readonly ContactItem[]) => Promise<unknown[]>;

const signs = [..."aBé日🙂 ,;:\"'\\=+*#|<>()[]{}&%@\t", "ß", " ::: ", "END:VCARD", "=0A", "http://x", "TEL:1"];
const text = (more: readonly string[] = []) =>
  fc
    .array(fc.constantFrom(...signs, ...more), { minLength: 1, maxLength: 30 })
    .map((all) => all.join("").trim())
    .filter((one) => /[\p{L}\p{N}]/u.test(one));
const name = text().map((one) => one.replace(/\s+/g, " "));
const contact: fc.Arbitrary<Fields> = fc
  .record(
    {
      fullName: name,
      email: fc.constantFrom("ann@example.com", "o'hara+x@sub.example.org", "jörg@exämple.de"),
      phone: fc.constantFrom("+44 20 7946 0958", "(030) 1;2", "1,2", "*100#", "+1 555 ext. 5"),
      notes: text(["\n", "\n\n", "\n- "]),
    },
    { requiredKeys: [] },
  )
  .filter((one) => Object.keys(one).length > 0);

const csvOf =
  (columns: "records" | "google" | "outlook", begin = "", change = (file: string) => file): Write =>
  async (contacts) => {
    const { header, row } = csvWriter(columns);
    const { entries } = await read("csv", change(`${begin}${header}${contacts.map((one) => row(one)).join("")}`));
    return entries.map(held);
  };
const cardsOf =
  (cardOf: (contact: ContactItem) => string): Write =>
  async (contacts) =>
    (await read("vcard", contacts.map(cardOf).join(""))).entries.map(held);

/** A card as an old phone writes it. */
function oldCard({ fullName, email, phone, notes }: ContactItem): string {
  const quoted = (property: string, value: string | undefined): string => {
    const octets = [...Buffer.from(value ?? "")].map((byte) => `=${byte.toString(16).toUpperCase().padStart(2, "0")}`);
    const lines = Array.from({ length: Math.ceil(octets.length / 20) }, (_, at) => octets.slice(20 * at, 20 * at + 20));
    const folded = lines.map((line) => line.join("")).join("=\r\n");
    return value === undefined ? "" : `${property};ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:${folded}\r\n`;
  };
  const escaped = (value: string | undefined): string | undefined => value?.replace(/[\\;,]/g, "\\$&");
  const all = [
    quoted("FN", escaped(fullName)),
    quoted("EMAIL;HOME", email),
    quoted("TEL;CELL", escaped(phone)),
    quoted("NOTE", escaped(notes)),
  ];
  return `BEGIN:VCARD\r\nVERSION:2.1\r\n${all.join("")}END:VCARD\r\n`;
}

const dialects: Readonly<Record<string, Write>> = {
  "CSV of Records": csvOf("records"),
  "CSV of Records for Excel": csvOf("records", "\uFEFF"),
  "CSV with the line sep= of Excel": csvOf("records", "sep=,\r\n"),
  "CSV of Google": csvOf("google"),
  "CSV of Outlook": csvOf("outlook", "\uFEFF"),
  "vCard 3.0": cardsOf((one) => vcard(one)),
  "vCard 4.0": cardsOf((one) => vcard(one, "4.0")),
  "vCard 2.1": cardsOf(oldCard),
  NDJSON: async (contacts) => {
    const file = contacts.map((value) => ndjsonLine(contactRecord(value))).join("");
    return (await everyOf(readNdjson(linesOf(chunksOf(file))))).map(held);
  },
  "a JSON array": async (contacts) => {
    const file = `[\n${contacts.map((value) => ndjsonLine(contactRecord(value))).join(",")}]`;
    return (await everyOf(readNdjson(linesOf(chunksOf(file))))).map(held);
  },
};

test.each(Object.entries(dialects))(
  "any contacts in %s are imported as they were [OPS-04, IMP-02]",
  async (_name, write) => {
    await fc.assert(
      fc.asyncProperty(fc.array(contact, { minLength: 1, maxLength: 5 }), async (all) => {
        const found = await write(all.map((one) => create(ContactItemSchema, one)));
        const plain = found.map((one) => {
          const { fullName, email, phone, notes } = one as Fields;
          return JSON.parse(JSON.stringify({ fullName, email, phone, notes })) as Fields;
        });
        expect(plain).toEqual(all);
      }),
      { numRuns: inForm(100, 2_000) },
    );
  },
);
