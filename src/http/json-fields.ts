// Walks the fields of a message in protobuf's JSON, to find values that the library misreads.
import type { DescField, DescMessage, JsonValue } from "@bufbuild/protobuf";

/** A value of a field, with its path in the names of the proto. */
export interface GivenField {
  readonly field: DescField;
  readonly value: JsonValue;
  readonly path: string;
}

/**
 * Yields the values of all fields that hold messages, at any depth. An item of a list is a value of
 * its own. Skips maps, and values of another shape, which the library rejects: a list can have 100,000 items.
 */
export function* fieldsIn(message: DescMessage, json: JsonValue, path = ""): Generator<GivenField> {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return;
  for (const [key, value] of Object.entries(json)) {
    const field = message.fields.find(({ name, jsonName }) => name === key || jsonName === key);
    if (field?.message === undefined || field.fieldKind === "map") continue;
    if (Array.isArray(value) !== (field.fieldKind === "list")) continue;
    const own = path + field.name;
    if (!Array.isArray(value)) yield* one(field, value, own);
    else for (const [index, item] of value.entries()) yield* one(field, item, `${own}[${index}]`);
  }
}

function* one(field: DescField, value: JsonValue, path: string): Generator<GivenField> {
  yield { field, value, path };
  if (field.message !== undefined) yield* fieldsIn(field.message, value, `${path}.`);
}
