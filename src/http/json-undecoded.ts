// Finds the fields for which the library cannot decode a message from JSON. The library reports only the first, without
// its place in a list.
import type { DescField, DescMessage, JsonValue } from "@bufbuild/protobuf";
import { ScalarType, fromJson, getOption } from "@bufbuild/protobuf";
import type { Violation } from "../call/errors.ts";
import { field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { echoedName } from "./echoed-name.ts";
import { beyondType, integerBounds } from "./integer-bounds.ts";

/** The maximum number of violations: a list can have 100,000 items. */
const most = 50;
const times = "google.protobuf.Timestamp";
const masks = "google.protobuf.FieldMask";

/**
 * Returns a violation for each value that cannot be decoded, with the names of the proto and the index of each item:
 * `contacts[3].created_at`. Decodes each level of the message once. Returns none for a text that is not JSON.
 */
export function undecodedFields(message: DescMessage, text: string): readonly Violation[] {
  let json: JsonValue;
  try {
    json = JSON.parse(text) as JsonValue;
  } catch {
    return [];
  }
  return [...inMessage(message, json, "")];
}

function* inMessage(message: DescMessage, json: JsonValue, path: string): Generator<Violation> {
  if (typeof json !== "object" || json === null || Array.isArray(json))
    return yield path === ""
      ? { field: "", rule: "type", message: "the message must be a JSON object" }
      : { field: path.slice(0, -1), rule: "type", message: "must be an object" };
  let found = 0;
  for (const [key, value] of Object.entries(json)) {
    const field = message.fields.find(({ name, jsonName }) => name === key || jsonName === key);
    const own = path + (field?.name ?? echoedName(key));
    const violations = field === undefined ? [unknown(own)] : inField(message, field, value, own);
    for (const violation of violations) {
      yield violation;
      found += 1;
      if (found === most) return;
    }
  }
}

function* inField(message: DescMessage, field: DescField, value: JsonValue, path: string): Generator<Violation> {
  if (decodes(message, { [field.name]: value })) return;
  if (field.fieldKind !== "list") return yield* inValue(field, value, path);
  if (!Array.isArray(value)) return yield { field: path, rule: "type", message: "must be an array" };
  for (const [index, item] of value.entries())
    if (!decodes(message, { [field.name]: [item] })) yield* inValue(field, item, `${path}[${index}]`);
}

function* inValue(field: DescField, value: JsonValue, path: string): Generator<Violation> {
  if (field.message === undefined || field.message.file.proto.package === "google.protobuf")
    yield violationOf(field, value, path);
  else yield* inMessage(field.message, value, `${path}.`);
}

function decodes(message: DescMessage, json: JsonValue): boolean {
  try {
    fromJson(message, json);
    return true;
  } catch {
    return false;
  }
}

function unknown(field: string): Violation {
  return { field, rule: "unknown_property", message: "is not a known property" };
}

function violationOf(field: DescField, value: JsonValue, path: string): Violation {
  const type = (message: string): Violation => ({ field: path, rule: "type", message });
  if (field.message?.typeName === times)
    return { field: path, rule: "timestamp", message: "must be a date-time, such as 2026-01-31T09:30:00Z" };
  if (field.message?.typeName === masks)
    return type("must be a string of fields in camel case, separated by commas, such as fullName,email");
  if (field.enum !== undefined) {
    // A short name precedes the names of protobuf, which are in upper case.
    const names = field.enum.values.filter(({ number }) => number !== 0).map(({ name }) => name);
    const short = names.filter((name) => name === name.toLowerCase());
    return { field: path, rule: "enum", message: `must be one of ${(short.length > 0 ? short : names).join(", ")}` };
  }
  switch (field.scalar) {
    case ScalarType.STRING:
      if (typeof value !== "string") return type("must be a string");
      return { field: path, rule: "surrogate", message: "must not contain a lone surrogate" };
    case ScalarType.BOOL:
      return type("must be true or false");
    case ScalarType.BYTES:
      return type("must be base64");
    case ScalarType.INT32: {
      const bounds = integerBounds(getOption(field, fieldRules));
      return beyondType(path, Number(value), bounds) ?? type("must be a whole number");
    }
    default:
      return type(field.scalar === undefined ? "has a value of another type" : "must be a number");
  }
}
