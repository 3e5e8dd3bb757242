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

/** A column of a program, and what it writes there. A column without a value is always empty. */
type Column = readonly [header: string, value?: "given" | "family" | "fullName" | "email" | "phone" | "notes"];

const columnsOf = (headers: string): Column[] =>
  headers.split("|").map((one) => {
    const [header = "", value] = one.split("=");
    return value === undefined ? [header] : [header, value as NonNullable<Column[1]>];
  });

/** Exports of programs: `Header=value`, and headers of columns without a value. */
const programs: Readonly<
  Record<string, { readonly columns: string; readonly begin?: string; readonly separator?: string }>
> = {
  "Google before 2023": {
    columns:
      "Name=fullName|Given Name|Additional Name|Family Name|Yomi Name|Notes=notes|Group Membership|E-mail 1 - Type|E-mail 1 - Value=email|E-mail 2 - Type|E-mail 2 - Value|Phone 1 - Type|Phone 1 - Value=phone|Organization 1 - Name",
  },
  "Google from 2023": {
    columns:
      "First Name=given|Middle Name|Last Name=family|Phonetic First Name|File As|Organization Name|Notes=notes|Labels|E-mail 1 - Label|E-mail 1 - Value=email|Phone 1 - Label|Phone 1 - Value=phone|Phone 2 - Label|Phone 2 - Value",
  },
  "Outlook in English": {
    begin: "\uFEFF",
    columns:
      "Title|First Name=given|Middle Name|Last Name=family|Suffix|Company|Business Fax|Business Phone|Home Phone|Mobile Phone=phone|Pager|E-mail Address=email|E-mail Type|E-mail 2 Address|Notes=notes",
  },
  "Outlook in German": {
    separator: ";",
    columns:
      "Anrede|Vorname=given|Weitere Vornamen|Nachname=family|Suffix|Firma|Fax geschäftlich|Telefon geschäftlich|Telefon privat|Mobiltelefon=phone|Pager|E-Mail-Adresse=email|E-Mail-Typ|E-Mail 2: Adresse|Notizen=notes",
  },
  "Outlook in French": {
    separator: ";",
    columns:
      "Titre|Prénom=given|Deuxième prénom|Nom=family|Suffixe|Société|Télécopie (bureau)|Téléphone (bureau)|Téléphone (domicile)|Tél. mobile=phone|Adresse de messagerie=email|Type de messagerie|Notes=notes",
  },
  "Outlook in Spanish": {
    columns:
      "Tratamiento|Nombre=given|Segundo nombre|Apellidos=family|Sufijo|Organización|Fax del trabajo|Teléfono del trabajo|Particular: teléfono|Móvil=phone|Dirección de correo electrónico=email|Notas=notes",
  },
  "Outlook in Italian": {
    separator: ";",
    columns:
      "Titolo|Nome=given|Secondo nome|Cognome=family|Società|Fax (uff.)|Telefono (uff.)|Telefono abitazione|Telefono cellulare=phone|Indirizzo posta elettronica=email|Note=notes",
  },
  "Outlook in Portuguese": {
    columns:
      "Título|Nome=given|Segundo nome|Sobrenome=family|Empresa|Fax comercial|Telefone comercial|Telefone residencial|Telefone celular=phone|Endereço de e-mail=email|Notas=notes",
  },
  "Outlook in Dutch": {
    separator: ";",
    columns:
      "Titel|Voornaam=given|Middelste naam|Achternaam=family|Bedrijf|Fax op werk|Telefoon op werk|Telefoon thuis|Mobiele telefoon=phone|E-mailadres=email|Notities=notes",
  },
  "Outlook in Polish": {
    separator: ";",
    columns:
      "Tytuł|Imię=given|Drugie imię|Nazwisko=family|Firma|Faks służbowy|Telefon służbowy|Telefon domowy|Telefon komórkowy=phone|Adres e-mail=email|Notatki=notes",
  },
  "Outlook in Japanese": {
    columns:
      "名=given|ミドル ネーム|姓=family|会社名|会社 FAX|会社電話|自宅電話|携帯電話=phone|電子メール アドレス=email|メモ=notes",
  },
  Thunderbird: {
    columns:
      "First Name=given|Last Name=family|Display Name|Nickname|Primary Email=email|Secondary Email|Screen Name|Work Phone|Home Phone|Fax Number|Pager Number|Mobile Number=phone|Organization|Notes=notes",
  },
  Yahoo: {
    columns:
      "First=given|Middle|Last=family|Nickname|Email=email|Category|Distribution Lists|Messenger ID|Home|Work|Pager|Fax|Mobile=phone|Other|Comments=notes",
  },
  LinkedIn: {
    begin: 'Notes:\r\n"When exporting your connection data, you may notice that some addresses are missing."\r\n\r\n',
    columns: "First Name=given|Last Name=family|URL|Email Address=email|Company|Position|Connected On",
  },
  HubSpot: {
    columns:
      "Record ID|First Name=given|Last Name=family|Email=email|Phone Number=phone|Contact owner|Lead Status|Create Date|Associated Company|Notes=notes",
  },
  "a report of Salesforce": {
    columns:
      "Salutation|First Name=given|Last Name=family|Title|Account Name|Phone|Fax|Mobile=phone|Email=email|Description=notes",
  },
  "a telephone system": {
    columns: "FirstName=given|LastName=family|Mobile|Home|Business=phone|BusinessFax|Email=email|Notes=notes",
  },
  "an app for iCloud": {
    columns: "First Name=given|Last Name=family|Phone (iPhone)=phone|Email (home)|Email (work)=email|Note=notes",
  },
  Pipedrive: {
    columns:
      "Person - Name=fullName|Person - Organization|Person - Email - Work=email|Person - Email - Home|Person - Phone - Work|Person - Phone - Mobile=phone|Person - Notes=notes",
  },
  SuiteCRM: {
    columns:
      "First Name=given|Last Name=family|ID|Salutation|Account Name|Email Address=email|Home Phone|Mobile=phone|Office Phone|Fax|Description=notes",
  },
  Twenty: {
    columns:
      "Id|Name / First Name=given|Name / Last Name=family|Emails / Primary Email=email|Emails / Additional Emails|Phones / Primary Phone Number=phone|Phones / Primary Phone Country Code|Job Title|Notes=notes",
  },
  Zoho: {
    columns:
      "Record Id|Contact Owner|Lead Source|First Name=given|Last Name=family|Account Name|Email=email|Department|Phone|Home Phone|Fax|Mobile=phone|Secondary Email|Description=notes",
  },
};

const quotedCell = (value: string): string => `"${value.replaceAll('"', '""')}"`;

/** Writes contacts as a program does. A contact has only what the program exports. */
const programOf =
  ({ columns, begin = "", separator = "," }: (typeof programs)[string]): Write =>
  async (contacts) => {
    const all = columnsOf(columns);
    const file = [all.map(([header]) => header), ...contacts.map((one) => all.map(([, value]) => cellOf(one, value)))];
    const { entries } = await read(
      "csv",
      begin + file.map((row) => `${row.map(quotedCell).join(separator)}\r\n`).join(""),
    );
    return entries.map(held);
  };

function cellOf({ fullName = "", ...contact }: ContactItem, value: Column[1]): string {
  if (value === "fullName") return fullName;
  const [given = "", ...family] = /^日/.test(fullName) ? [fullName] : fullName.split(" ");
  if (value === "given") return given;
  return value === "family" ? family.join(" ") : value === undefined ? "" : (contact[value] ?? "");
}

/** A card of an iPhone: groups with labels, escapes, and folded lines. */
function appleCard({ fullName, email, phone, notes }: ContactItem): string {
  const escaped = (value = ""): string => value.replace(/[\\;,]/g, "\\$&").replaceAll("\n", "\\n");
  const line = (property: string, value: string | undefined): string =>
    value === undefined ? "" : [`${property}:${escaped(value)}`.replace(/.{60}(?=.)/gsu, "$&\r\n "), ""].join("\r\n");
  return [
    "BEGIN:VCARD\r\nVERSION:3.0\r\nPRODID:-//Apple Inc.//iPhone OS 17.0//EN\r\nN:;;;;\r\n",
    line("FN", fullName),
    line("item1.EMAIL;type=INTERNET;type=pref", email),
    "item1.X-ABLabel:_$!<Other>!$_\r\n",
    line("TEL;type=CELL;type=VOICE;type=pref", phone),
    line("NOTE", notes),
    "END:VCARD\r\n",
  ].join("");
}

const dialects: Readonly<Record<string, Write>> = {
  ...Object.fromEntries(Object.entries(programs).map(([name, program]) => [`CSV of ${name}`, programOf(program)])),
  "vCard of Apple": cardsOf(appleCard),
  "vCard 3.0 with LF": async (contacts) =>
    (await read("vcard", contacts.map((one) => vcard(one).replaceAll("\r\n", "\n")).join(""))).entries.map(held),
  "vCard 4.0 with byte order marks": cardsOf((one) => `\uFEFF${vcard(one, "4.0")}`),
  "vCard 3.0 in UTF-16": async (contacts) => {
    const file = Buffer.from(`\uFEFF${contacts.map((one) => vcard(one)).join("")}`, "utf16le");
    return (await read("vcard", file)).entries.map(held);
  },
  "CSV of Records for Excel": csvOf("records", "\uFEFF"),
  "CSV with the line sep= of Excel": csvOf("records", "sep=,\r\n"),
  "CSV of Google": csvOf("google"),
  "CSV of Outlook": csvOf("outlook", "\uFEFF"),
  "vCard 2.1": cardsOf(oldCard),
  "a JSON array": async (contacts) => {
    const file = `[\n${contacts.map((value) => ndjsonLine(contactRecord(value))).join(",")}]`;
    return (await everyOf(readNdjson(linesOf(chunksOf(file))))).map(held);
  },
};

/** Returns what a program exports of a contact: LinkedIn has no numbers and no notes. */
function exportedBy(name: string, { phone, notes, ...others }: Fields): Fields {
  if (name === "CSV of LinkedIn") return others;
  return { ...others, ...(phone !== undefined && { phone }), ...(notes !== undefined && { notes }) };
}

test.each(Object.entries(dialects))(
  "any contacts in %s are imported as they were [OPS-04, IMP-02]",
  async (name, write) => {
    await fc.assert(
      fc.asyncProperty(fc.array(contact, { minLength: 1, maxLength: 5 }), async (any) => {
        const all = any.map((one) => exportedBy(name, one)).filter((one) => Object.keys(one).length > 0);
        if (all.length === 0) return;
        const found = await write(all.map((one) => create(ContactItemSchema, one)));
        const plain = found.map((one) => {
          const { fullName, email, phone, notes } = one as Fields;
          return JSON.parse(JSON.stringify({ fullName, email, phone, notes })) as Fields;
        });
        expect(plain).toEqual(all);
      }),
      { numRuns: inForm(25, 2_000) },
    );
  },
);
