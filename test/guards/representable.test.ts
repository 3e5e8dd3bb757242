// Which values of a message some wire cannot represent, in every kind of field.
import type { DescMessage, Message, MessageInitShape } from "@bufbuild/protobuf";
import { create, createFileRegistry } from "@bufbuild/protobuf";
import {
  FieldDescriptorProto_Label as FieldLabel,
  FieldDescriptorProto_Type as FieldType,
  type FieldDescriptorProtoSchema,
  FileDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import type { Violation } from "../../src/call/errors.ts";
import { FieldRulesSchema } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import { Credential, MethodRulesSchema } from "../../src/gen/records/v1/options_pb.ts";
import { RecordingSchema } from "../../src/gen/records/v1/sessions_pb.ts";
import { readableMessage, unrepresentableValues } from "../../src/guards/representable.ts";

function found<Schema extends DescMessage>(schema: Schema, init: MessageInitShape<Schema>): readonly Violation[] {
  return unrepresentableValues(schema, create(schema, init));
}

const notFinite = { rule: "double.finite", message: "must be a finite number" };
const outOfTime = {
  rule: "timestamp.range",
  message: "must be a time from the year 1 to 9999, with nanos from 0 to 999999999",
};

test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
  "the number %d is rejected in a double and in a float, alone and in a list",
  (value) => {
    expect(found(RecordingSchema, { durationSeconds: value })).toEqual([{ field: "duration_seconds", ...notFinite }]);
    expect(found(FieldRulesSchema, { type: { case: "double", value: { in: [1, value] } } })).toEqual([
      { field: "double.in[1]", ...notFinite },
    ]);
    expect(found(FieldRulesSchema, { type: { case: "float", value: { const: value } } })).toEqual([
      { field: "float.const", ...notFinite },
    ]);
  },
);

test("an enum value without a name is rejected, and one with a name is not", () => {
  const [DUPLICATE_EMAIL, unknown] = [Reason.DUPLICATE_EMAIL, 7 as never];
  expect(found(MethodRulesSchema, { credential: Credential.SESSION, errors: [DUPLICATE_EMAIL] })).toEqual([]);
  expect(found(MethodRulesSchema, { credential: unknown })).toEqual([
    {
      field: "credential",
      rule: "enum.defined_only",
      message: "must be one of CREDENTIAL_NONE, CREDENTIAL_SESSION",
    },
  ]);
  expect(found(MethodRulesSchema, { errors: [DUPLICATE_EMAIL, 9_999 as never] })).toMatchObject([
    { field: "errors[1]", rule: "enum.defined_only" },
  ]);
});

test.each([
  [-62_135_596_800n, 0, true],
  [-62_135_596_801n, 999_999_999, false],
  [253_402_300_799n, 999_999_999, true],
  [253_402_300_800n, 0, false],
  [0n, -1, false],
  [0n, 1_000_000_000, false],
])("a time of %d seconds and %d nanos is representable: %j", (seconds, nanos, isRepresentable) => {
  expect(found(RecordingSchema, { recordingStartedAt: { seconds, nanos } })).toEqual(
    isRepresentable ? [] : [{ field: "recording_started_at", ...outOfTime }],
  );
});

/** A message with a field of each type that records have. */
const record = messageOf([
  { name: "name", type: FieldType.STRING },
  { name: "is_known", type: FieldType.BOOL },
  { name: "seconds", type: FieldType.DOUBLE },
  { name: "count", type: FieldType.INT32 },
  { name: "labels", type: FieldType.STRING, label: FieldLabel.REPEATED },
]);

function messageOf(fields: readonly MessageInitShape<typeof FieldDescriptorProtoSchema>[]): DescMessage {
  const field = fields.map((one, at) => ({ label: FieldLabel.OPTIONAL, ...one, number: at + 1 }));
  const file = { name: "made.proto", package: "made", syntax: "proto3", messageType: [{ name: "Record", field }] };
  const registry = createFileRegistry(create(FileDescriptorProtoSchema, file), () => undefined);
  return registry.getMessage("made.Record") as DescMessage;
}

const stored = { name: "Ann", isKnown: true, seconds: 1.5, count: 2 ** 31 - 1, labels: ["a"] };

const messageWith = (values: object): Message => Object.assign(create(record), stored, values);
/** Returns the same; undefined if it cannot be read. */
const read = (values: object): object | undefined => readableMessage(record, () => messageWith(values));

test.each([[{}], [{ name: "", isKnown: false, seconds: 0, count: -(2 ** 31), labels: [] }]])(
  "a stored document with values of the right types can be read: case %#",
  (values) => {
    expect(read(values)).toMatchObject({ ...stored, ...values });
  },
);

test.each([
  [{ name: 7 }],
  [{ name: undefined }],
  [{ name: "\ud800" }],
  [{ isKnown: "yes" }],
  [{ isKnown: undefined }],
  [{ seconds: "1.5" }],
  [{ seconds: Number.NaN }],
  [{ count: 1.5 }],
  [{ count: 2 ** 31 }],
  [{ count: "1" }],
  [{ labels: ["a", 7] }],
  [{ labels: undefined }],
])("a stored document with a value that is missing or of another type cannot be read: %j", (values) => {
  expect(read(values)).toBeUndefined();
});

test.each([
  [{ name: 7 }, "name", "must be a string"],
  [{ isKnown: "yes" }, "is_known", "must be true or false"],
  [{ seconds: "1.5" }, "seconds", "must be a number"],
  [{ count: 2 ** 31 }, "count", "must be a whole number of 32 bits"],
  [{ labels: ["a", 7] }, "labels[1]", "must be a string"],
])("a restore says of %j: %s %s", (values, field, message) => {
  expect(unrepresentableValues(record, messageWith(values))).toEqual([{ field, rule: "type", message }]);
});
