// Lines of a backup: what they keep, and which are damaged.
import type { Document } from "mongodb";
import { BSON, BSONRegExp, Binary, Code, Decimal128, Double, Int32, Long, MaxKey, ObjectId, UUID } from "mongodb";
import { expect, test } from "vitest";
import { lineOf, parseLine } from "../../src/cli/backup/documents.ts";

const collection = "contacts";

test.each<[string, unknown]>([
  ["int", new Int32(-1)],
  ["long", Long.MIN_VALUE],
  ["double", new Double(0.1)],
  ["whole double", new Double(1e21)],
  ["negative zero", new Double(-0)],
  ["NaN", new Double(NaN)],
  ["decimal", Decimal128.fromString("1E+3")],
  ["time", new Date("2026-11-30T12:00:00.001Z")],
  ["time before the year 0", new Date(-8.64e15)],
  ["last time", new Date(8.64e15)],
  ["UUID", new UUID()],
  ["bytes", new Binary(Buffer.from([0, 255]), 0)],
  ["ObjectId", new ObjectId()],
  ["text", 'a\u0000"\\\u{1d11e}'],
  ["list", [null, true, { a: [] }]],
  ["expression", new BSONRegExp("a", "i")],
  ["code", new Code("1", { a: 1 })],
  ["key", new MaxKey()],
])("a line keeps a value of the type %s [OPS-62]", (_what, value) => {
  const bson = Buffer.from(BSON.serialize({ _id: 1, value }));
  const parsed = parseLine(lineOf({ collection, bson }).trimEnd());
  expect("bson" in parsed && Buffer.from(parsed.bson)).toEqual(bson);
});

test.each<[string, Document]>([
  ["a time that no date can have", { at: { $date: { $numberLong: "99999999999999999" } } }],
  ["a number of more than 32 bits as an int", { version: { $numberInt: "4294967297" } }],
  ["a number of more than 64 bits as a long", { version: { $numberLong: "18446744073709551617" } }],
  ["a text as a number", { version: { $numberDouble: "one" } }],
  ["a number without a type", { version: 1 }],
  ["a lone surrogate", { full_name: "Ann \ud800" }],
])("a line with %s is damaged, because a restore would change it [OPS-62]", (_what, document) => {
  expect(parseLine(JSON.stringify({ collection, document }))).toEqual({
    problem: "its document isn't canonical Extended JSON",
  });
});
