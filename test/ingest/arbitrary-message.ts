// Random messages from their descriptors, mostly of usual values.
import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import { ScalarType, create } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";

/** Mostly a usual value, sometimes any value that the encoding can carry. */
function mostly<T>(usual: fc.Arbitrary<T>, any: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 12, arbitrary: usual }, { weight: 1, arbitrary: any });
}

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const edges = fc.constantFrom(
  -62_135_596_800n,
  -62_135_596_801n,
  253_402_300_799n,
  253_402_300_800n,
  0n,
  -1n,
  8_640_000_000_000n,
  8_640_000_000_001n,
);
const timestamp = fc.record({
  seconds: mostly(fc.bigInt({ min: -62_135_596_800n, max: 253_402_300_799n }), fc.oneof(edges, int64)),
  nanos: mostly(fc.integer({ min: 0, max: 999_999_999 }), fc.oneof(int32, fc.constantFrom(-1, 1_000_000_000))),
});
const text = fc.oneof(
  fc.constantFrom(
    "budget",
    "",
    " ",
    "\u0000",
    "\u200b",
    "ann\r\n\u2028",
    '"}',
    "<b>&",
    "\ufffe\uffff",
    "🎉👩‍👧",
    "a".repeat(200),
  ),
  fc.string({ unit: "binary", maxLength: 30 }),
);

/** Any message; with `ids` the items of a round refer to each other's records. */
export function arbitraryOf(schema: DescMessage, ids: fc.Arbitrary<string>): fc.Arbitrary<Message> {
  if (schema.typeName === TimestampSchema.typeName) return timestamp.map((value) => create(TimestampSchema, value));
  const fields = schema.fields.map((field) =>
    fieldOf(field, ids).map((value) => (value === undefined ? {} : { [field.localName]: value })),
  );
  return fc.tuple(...fields).map((values) => create(schema, Object.assign({}, ...values) as never));
}

function fieldOf(field: DescField, ids: fc.Arbitrary<string>): fc.Arbitrary<unknown> {
  const one = valueOf(field, ids);
  return field.proto.proto3Optional || field.message !== undefined ? fc.option(one, { nil: undefined, freq: 3 }) : one;
}

function valueOf(field: DescField, ids: fc.Arbitrary<string>): fc.Arbitrary<unknown> {
  if (field.message !== undefined) return arbitraryOf(field.message, ids);
  if (field.enum !== undefined) return mostly(fc.constantFrom(...field.enum.values.map(({ number }) => number)), int32);
  if (field.name.endsWith("external_id")) return fc.uuid();
  if (/(^|_)id$/.test(field.name)) return mostly(ids, text);
  if (field.name === "email")
    return mostly(
      fc.uuid().map((id) => `${id}@example.com`),
      text,
    );
  const scalar = "scalar" in field ? field.scalar : undefined;
  if (scalar === ScalarType.STRING) return text;
  if (scalar === ScalarType.INT32) return int32;
  if (scalar === ScalarType.DOUBLE)
    return mostly(fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }), fc.double());
  throw new Error(`the test has no values for ${field.name}`);
}
