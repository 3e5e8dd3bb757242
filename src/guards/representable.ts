// Rejects values that one wire can carry and another cannot represent, in every field of every message.
import type { DescEnum, DescField, DescMessage, Message, MessageShape } from "@bufbuild/protobuf";
import type { ReflectMessage } from "@bufbuild/protobuf/reflect";
import { ScalarType } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { FeatureSet_FieldPresence, TimestampSchema } from "@bufbuild/protobuf/wkt";
import type { Violation } from "../call/errors.ts";
import { lastInstant } from "../db/message.ts";
import { loneSurrogate } from "../text/text.ts";

/** The first second of year 1 and the last of year 9999: the range of a protobuf Timestamp in JSON. */
const firstSecond = -62_135_596_800n;
const lastSecond = BigInt(Math.floor(lastInstant / 1_000));
const lastNano = 999_999_999;

const outOfTime = {
  rule: "timestamp.range",
  message: "must be a time from the year 1 to 9999, with nanos from 0 to 999999999",
};
const notFinite = { rule: "double.finite", message: "must be a finite number" };
const notString = { rule: "type", message: "must be a string" };
const notNumber = { rule: "type", message: "must be a number" };
const notBool = { rule: "type", message: "must be true or false" };
const notInt32 = { rule: "type", message: "must be a whole number of 32 bits" };
const notWellFormed = { rule: "surrogate", message: "must not contain a lone surrogate" };

/**
 * Returns violations for the values of a message, at any depth, that some wire cannot represent. Bytes need no check,
 * because JSON has them in base64.
 */
export function unrepresentableValues(schema: DescMessage, message: Message): Violation[] {
  const violations: Violation[] = [];
  inMessage(reflect(schema, message), "", violations);
  return violations;
}

/**
 * Returns the message that `make` makes of a stored document. Returns undefined if the document has values of other
 * types than its store writes, or that some wire cannot represent.
 */
export function readableMessage<Desc extends DescMessage>(
  schema: Desc,
  make: () => MessageShape<Desc>,
): MessageShape<Desc> | undefined {
  try {
    const message = make();
    return isComplete(schema, message) && unrepresentableValues(schema, message).length === 0 ? message : undefined;
  } catch {
    return undefined;
  }
}

/** Returns whether each scalar that is always present has a value: a stored document can lack any. */
function isComplete(schema: DescMessage, message: Message): boolean {
  const values = message as Message & Readonly<Record<string, unknown>>;
  return schema.fields.every(
    ({ fieldKind, presence, localName }) =>
      fieldKind !== "scalar" || presence !== FeatureSet_FieldPresence.IMPLICIT || values[localName] !== undefined,
  );
}

function inMessage(message: ReflectMessage, path: string, violations: Violation[]): void {
  for (const field of message.fields) {
    if (!message.isSet(field)) continue;
    const name = path === "" ? field.name : `${path}.${field.name}`;
    if (field.fieldKind === "list") {
      for (const [at, item] of [...message.get(field)].entries()) inValue(field, item, `${name}[${at}]`, violations);
    } else if (field.fieldKind === "map") {
      for (const [key, value] of message.get(field)) inValue(field, value, `${name}[${shownKey(key)}]`, violations);
    } else {
      inValue(field, message.get(field), name, violations);
    }
  }
}

function inValue(field: DescField, value: unknown, name: string, violations: Violation[]): void {
  if (field.message?.typeName === TimestampSchema.typeName) {
    if (!isShowableTime((value as ReflectMessage).message as Timestamp)) violations.push({ field: name, ...outOfTime });
  } else if (field.message !== undefined) {
    inMessage(value as ReflectMessage, name, violations);
  } else if (field.enum !== undefined) {
    if (field.enum.value[value as number] === undefined) {
      violations.push({ field: name, rule: "enum.defined_only", message: allowedNames(field.enum) });
    }
  } else {
    const wrong = inScalar(field.scalar, value);
    if (wrong !== undefined) violations.push({ field: name, ...wrong });
  }
}

/** Decoded messages have the right types. Messages of stored documents may not. */
function inScalar(scalar: ScalarType | undefined, value: unknown): typeof notFinite | undefined {
  if (typeof value === "number" && !Number.isFinite(value)) return notFinite;
  if (typeof value === "string" && loneSurrogate.test(value)) return notWellFormed;
  if (scalar === ScalarType.STRING && typeof value !== "string") return notString;
  if (scalar === ScalarType.BOOL && typeof value !== "boolean") return notBool;
  if (scalar === ScalarType.DOUBLE && typeof value !== "number") return notNumber;
  if (scalar === ScalarType.INT32 && value !== (Number(value) | 0)) return notInt32;
  return undefined;
}

/** JSON has no 64-bit numbers, which a map can have as keys. */
function shownKey(key: unknown): string {
  return typeof key === "string" ? JSON.stringify(key) : String(key);
}

function isShowableTime({ seconds, nanos }: Timestamp): boolean {
  return seconds >= firstSecond && seconds <= lastSecond && nanos >= 0 && nanos <= lastNano;
}

/**
 * Returns the message for an enum value that is missing or undefined. Uses `value`, which has one name for each number;
 * `values` may have more.
 */
export function allowedNames({ value }: DescEnum): string {
  const names = Object.values(value).flatMap(({ number, name }) => (number === 0 ? [] : [name]));
  return `must be one of ${names.join(", ")}`;
}
