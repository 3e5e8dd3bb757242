// Enum values by the names that REST gives them, in protobuf's JSON too: `user_manual` is read like `SESSION_NOTE_TYPE_USER_MANUAL`.
import type { DescEnum, DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";

/** The JSON of a message with every short name of an enum value written out; what is something else stays as it is. */
export function withEnumNames(message: DescMessage, json: JsonValue): JsonValue {
  if (!isObject(json)) return json;
  const entries = Object.entries(json).map(([key, value]): [string, JsonValue] => {
    const field = message.fields.find(({ name, jsonName }) => name === key || jsonName === key);
    if (field === undefined || field.fieldKind === "map") return [key, value];
    const one = (item: JsonValue): JsonValue => {
      if (field.enum !== undefined) return writtenOut(field.enum, item);
      return field.message === undefined ? item : withEnumNames(field.message, item);
    };
    return [key, Array.isArray(value) ? value.map(one) : one(value)];
  });
  return Object.fromEntries(entries);
}

function writtenOut({ values, sharedPrefix = "" }: DescEnum, value: JsonValue): JsonValue {
  const found = values.find(({ name, number }) => number !== 0 && name.toLowerCase() === `${sharedPrefix}${String(value)}`);
  return found?.name ?? value;
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
