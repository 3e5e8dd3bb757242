// Decodes any BSON as the library does.
import { BSON, Binary, Decimal128, Long, ObjectId, Timestamp, UUID } from "mongodb";
import fc from "fast-check";
import { expect, test } from "vitest";
import { cursorIdOf, decode } from "../../src/db/decode.ts";
import { idText } from "../../src/db/message.ts";
import { inForm } from "../support/form.ts";

const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  leaf: fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 60 }),
    fc.string({ maxLength: 60 }),
    // Long ones are read in another way.
    fc.string({ unit: fc.constantFrom("a", "é", "王", "🙂", " "), minLength: 150, maxLength: 1_200 }),
    fc.double({ noNaN: true }),
    fc.integer(),
    fc.maxSafeInteger(),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((number) => Long.fromBigInt(number)),
    fc.date({ noInvalidDate: true }),
    fc.boolean(),
    fc.constant(null),
    fc.uuid().map((text) => new UUID(text)),
    fc.uint8Array({ maxLength: 40 }).map((bytes) => new Binary(bytes)),
  ),
  other: fc.constantFrom(
    new ObjectId(),
    Decimal128.fromString("1.5"),
    new Timestamp({ t: 1, i: 2 }),
    /a/i,
    new Binary(Buffer.from("abc"), 128),
  ),
  value: fc.oneof(
    { weight: 8, arbitrary: tie("leaf") },
    { weight: 1, arbitrary: tie("other") },
    fc.array(tie("value"), { maxLength: 4 }),
    tie("document"),
  ),
  document: fc.dictionary(fc.stringMatching(/^[a-zäß_.]{1,12}$/), tie("value"), { maxKeys: 8 }),
})).document;

test("decodes nested documents of every type as the library does", () => {
  fc.assert(
    fc.property(value, (document) => {
      const bytes = Buffer.from(BSON.serialize(document as BSON.Document));
      expect(decode(bytes)).toEqual(BSON.deserialize(bytes));
    }),
    { numRuns: inForm(400, 2_000) },
  );
});

test("reads a long text that is not well-formed UTF-8 with U+FFFD, as a short one", () => {
  const bytes = Buffer.from(BSON.serialize({ text: "é".repeat(600) }));
  bytes[20] = 0xff;
  expect(decode(bytes)).toEqual({ text: bytes.subarray(14, -2).toString() });
});

test("finds the id of a cursor behind its rows, whatever they contain", () => {
  const firstBatch = [{ id: 1 }, { text: "é".repeat(2_000) }];
  for (const id of [0n, 7n, 2n ** 63n - 1n, -(2n ** 63n)])
    expect(cursorIdOf(Buffer.from(BSON.serialize({ firstBatch, id: Long.fromBigInt(id), ns: "a.b" })))).toBe(id);
  expect(() => cursorIdOf(Buffer.from(BSON.serialize({ firstBatch, ns: "a.b" })))).toThrow(/without an id/);
});

test("shares no names, texts or positions between documents", () => {
  const documents = Array.from({ length: 3_000 }, (_, at) => ({
    [`name_${at}`]: `text ${at}`,
    [`naïve_${at % 7}`]: at,
    at,
  }));
  for (const document of documents) expect(decode(Buffer.from(BSON.serialize(document)))).toEqual(document);
});

test("decodes a document within a larger buffer, as the driver passes it", () => {
  const bytes = BSON.serialize({
    _id: new UUID("0190a1b2-c3d4-7e5f-8a6b-112233445566"),
    text: "a longer text than is read byte by byte, with an ü",
  });
  const within = Buffer.concat([Buffer.alloc(7, 1), bytes, Buffer.alloc(9, 2)]).subarray(7, 7 + bytes.length);
  const { _id, text } = decode(within) as { _id: UUID; text: string };
  expect([idText(_id), text]).toEqual([
    "0190a1b2-c3d4-7e5f-8a6b-112233445566",
    "a longer text than is read byte by byte, with an ü",
  ]);
});

test("writes an id as text as the library does", () => {
  fc.assert(fc.property(fc.uuid(), (text) => idText(new UUID(text)) === new UUID(text).toHexString()));
});
