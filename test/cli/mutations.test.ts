// Address books that are damaged: an import never fails without a reason, and never mixes two contacts.
import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, test } from "vitest";
import { CommandError } from "../../src/cli/exit.ts";
import { csvHeader, csvRow } from "../../src/cli/formats/csv-writer.ts";
import type { Entry } from "../../src/cli/formats/entry.ts";
import { vcard } from "../../src/cli/formats/vcard-writer.ts";
import { ContactItemSchema } from "../../src/gen/records/ingest/v1/items_pb.ts";
import { held, read } from "./entries.ts";
import { inForm } from "../support/form.ts";

const people = [11, 22, 33, 44];

/** Files of the same four people, whose values name the number of each. */
const files: readonly (readonly ["csv" | "vcard", string])[] = [
  ["csv", csvHeader + people.map((at) => csvRow(contactOf(at))).join("")],
  [
    "csv",
    `First Name;Last Name;E-mail Address;Mobile Phone;Notes\r\n${people
      .map((at) => `Name;${at};p${at}@example.com;+49 ${at};"Note ${at}; ""so""\nand\nmore"\r\n`)
      .join("")}`,
  ],
  ["vcard", people.map((at) => vcard(contactOf(at))).join("")],
  ["vcard", people.map((at) => vcard(contactOf(at)).replace("VERSION:3.0", "VERSION:4.0")).join("\n")],
  [
    "vcard",
    people
      .map(
        (at) =>
          `BEGIN:VCARD\nVERSION:2.1\nN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:=${at};Name\nFN;QUOTED-PRINTABLE:Name =\n${at}\nTEL;CELL:+49 ${at}\nAGENT:\nBEGIN:VCARD\nFN:Nobody\nEND:VCARD\nEMAIL;INTERNET:p${at}@example.com\nNOTE:Note ${at}\nmore\nEND:VCARD\n`,
      )
      .join(""),
  ],
];

function contactOf(at: number) {
  const fullName = `Name ${at}`;
  return create(ContactItemSchema, {
    fullName,
    email: `p${at}@example.com`,
    phone: `+49 ${at}`,
    notes: `Note ${at}\nmore`,
  });
}

/** The people whose values a contact has unharmed. A changed byte does not turn one of them into another. */
function peopleIn(entry: Entry): Set<number> {
  const value = held(entry);
  const fields = typeof value === "string" ? {} : value;
  const forms: Readonly<Record<string, RegExp>> = {
    fullName: /^Name (\d\d)$/,
    email: /^p(\d\d)@example\.com$/,
    phone: /^\+49 (\d\d)$/,
    notes: /^Note (\d\d)\b/,
  };
  const numbers = Object.entries(forms).map(([name, form]) => Number(form.exec(String(fields[name]))?.[1]));
  return new Set(numbers.filter((number) => people.includes(number)));
}

/** A change of the whole file, as by a program that saved it again. */
const resaved: Readonly<Record<string, (content: Buffer) => Buffer>> = {
  asIs: (content) => content,
  marked: (content) => Buffer.concat([Buffer.from("\uFEFF"), content]),
  wide: (content) => Buffer.from(content.toString("utf8"), "utf16le"),
  withLf: (content) => Buffer.from(content.toString("latin1").replaceAll("\r", ""), "latin1"),
  withCr: (content) => Buffer.from(content.toString("latin1").replace(/\r?\n/g, "\r"), "latin1"),
  withMore: (content) => Buffer.from(content.toString("latin1").replace(/\r?\n/g, "\r\r\n"), "latin1"),
  doubled: (content) => Buffer.from(content.toString("latin1").replace(/[,;]/g, "$&$&"), "latin1"),
};

/**
 * A damage to one line: bytes are changed, inserted or removed, the line is folded or joined with the next one, or the
 * line is removed, doubled or moved.
 */
const damage = fc.record({
  save: fc.constantFrom(...Object.keys(resaved)),
  kind: fc.constantFrom("change", "insert", "remove", "drop", "double", "move", "cut", "fold", "join"),
  line: fc.nat(),
  at: fc.nat(),
  bytes: fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 3 }),
    fc.constantFrom(
      ...['"', ";", ":", "=", ",", "\r", "\0", "\\", " ", "\xff"].map((sign) => Buffer.from(sign, "latin1")),
    ),
  ),
});
type Damage = typeof damage extends fc.Arbitrary<infer Value> ? Value : never;

function damaged(content: Buffer, { save, kind, line, at, bytes }: Damage): Buffer {
  const lines = content.toString("latin1").split(/(?<=\n)/);
  const place = line % lines.length;
  const text = lines[place] ?? "";
  const from = at % Math.max(1, text.length);
  const sign = Buffer.from(bytes).toString("latin1");
  const instead: Readonly<Record<Damage["kind"], string[]>> = {
    change: [text.slice(0, from), sign, text.slice(from + 1)],
    insert: [text.slice(0, from), sign, text.slice(from)],
    remove: [text.slice(0, from), text.slice(from + 1)],
    drop: [],
    double: [text, text],
    move: [lines[place + 1] ?? "", text],
    cut: [text.slice(0, from)],
    fold: [text.slice(0, from), "\r\n ", text.slice(from)],
    join: [text.replace(/\r?\n$/, "")],
  };
  const length = kind === "move" ? 2 : kind === "cut" ? lines.length : 1;
  lines.splice(place, length, ...instead[kind]);
  const changed = Buffer.from(lines.join(""), "latin1");
  return resaved[save]?.(changed) ?? changed;
}

test.each(files.map(([format, text], at) => [`${at} (${format})`, format, text] as const))(
  "a damaged address book is read or rejected with a reason, and no contact has the values of two people: %s [IMP-04]",
  async (_title, format, text) => {
    const { entries: whole } = await read(format, text);
    expect(whole.map((entry) => [...peopleIn(entry)])).toEqual(people.map((at) => [at]));
    await fc.assert(
      fc.asyncProperty(damage, async (one) => {
        const content = damaged(Buffer.from(text), one);
        const entries = await read(format, content).then(
          (found) => found.entries,
          (error: unknown) => (error instanceof CommandError ? [] : Promise.reject(error)),
        );
        for (const entry of entries) expect(peopleIn(entry).size, JSON.stringify(held(entry))).toBeLessThanOrEqual(1);
      }),
      { numRuns: inForm(100, 300) },
    );
  },
);

test.each(["csv", "vcard"] as const)("any bytes are read as %s, or rejected with a reason", async (format) => {
  const piece = fc.constantFrom(
    ...'BEGIN:VCARD\n|END:VCARD|AGENT:\n|FN:|NOTE;QUOTED-PRINTABLE:|=\n|=C3|\n |TEL;|name,email\n|sep=;\n|"|;|,|\xff\xfe|\xc3|\0'.split(
      "|",
    ),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 30 }), async (pieces) => {
      await read(format, Buffer.from(pieces.join(""), "latin1")).catch((error: unknown) => {
        if (!(error instanceof CommandError)) throw error;
      });
    }),
    { numRuns: inForm(150, 500) },
  );
});
