// NDJSON that is one JSON array, or objects over several lines: each record is read, and an error names its line.
import fc from "fast-check";
import { expect, test } from "vitest";
import { linesOf } from "../../src/cli/formats/lines.ts";
import { readNdjson } from "../../src/cli/formats/ndjson.ts";
import { everyOf } from "../support/client.ts";
import { chunksOf, held, said } from "./entries.ts";

const read = (text: string) => everyOf(readNdjson(linesOf(chunksOf(text))));
const contact = (full_name: string) => ({ contact: { full_name } });

test("reads the records of a pretty-printed array, and of objects over several lines [OPS-04]", async () => {
  const records = [contact("Ann"), contact('B" ],{ \\'), contact("Cy")];
  const names = records.map((one) => ({ fullName: one.contact.full_name }));
  for (const text of [
    JSON.stringify(records),
    JSON.stringify(records, null, 2),
    `\uFEFF\n[\n${records.map((one) => JSON.stringify(one)).join("\n,\n")}\n]\n\n`,
    records.map((one) => JSON.stringify(one, null, 2)).join("\n"),
  ])
    expect((await read(text)).map(held), text).toEqual(names);
});

test("an element that is no record, a rest and a missing end are one error each, with the line [OPS-04]", async () => {
  const text = `[\n${JSON.stringify(contact("Ann"), null, 1)},\n 7,\n{"contact": {"nick": 1}\n}\n]\nmore\nand more\n`;
  expect(said(await read(text))).toEqual([
    [2, { fullName: "Ann" }],
    [7, expect.stringContaining("is not a record: must be an object such as ")],
    [8, expect.stringContaining("nick")],
    [11, "follows the end of the array"],
  ]);
  const whole = JSON.stringify([contact("Ann"), contact("Bo")], null, 1);
  expect(said(await read(whole.slice(0, -20)))).toEqual([
    [2, { fullName: "Ann" }],
    [7, "has no end: the file is incomplete"],
  ]);
  expect(said(await read('{\n"contact": {'))).toEqual([[1, "has no end: the file is incomplete"]]);
});

test("invalid bytes reject only their element [OPS-04]", async () => {
  const bytes = Buffer.from('[{"contact":{"full_name":"Ann"}},\n{"contact":\n{"full_name":"B\xff"}},\n7]', "latin1");
  expect(said(await everyOf(readNdjson(linesOf(chunksOf(bytes)))))[0]).toEqual([1, { fullName: "Ann" }]);
});

test("any array is read as its elements, with any white space, and any cut of it never fails or mixes two records", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.constantFrom('"', "\\", "[", "]", "}", ",", "é", "\n", "x"), { minLength: 1 }), {
        minLength: 1,
      }),
      fc.constantFrom(undefined, 1, "\t"),
      fc.nat(),
      async (all, space, at) => {
        const names = all.map((signs) => signs.join(""));
        const text = JSON.stringify(names.map(contact), null, space);
        const read_ = (await read(text)).map(held);
        expect(read_).toEqual(names.map((fullName) => ({ fullName })));
        const cut = (await read(text.slice(0, at % text.length))).map(held);
        const whole = cut.filter((one) => typeof one !== "string");
        expect(whole).toEqual(read_.slice(0, whole.length));
      },
    ),
  );
});
