// Finds date-times in protobuf's JSON that do not exist. The library turns 30 February into 2 March, but REST rejects
// it (contract §2.11).
import type { DescMessage, JsonValue, DescField } from "@bufbuild/protobuf";
import { parseInstant } from "../text/instant.ts";

/**
 * Matches a day that its month may not have, the hour 24, or an escaped character of a date-time. Few texts match, and
 * only those are parsed.
 */
const doubtful = /-(?:02-(?:29|30|31)|(?:04|06|09|11)-31)T|T24:|\\u00(?:2d|3[0-9a]|54)/i;

/** Returns the paths of the fields whose date-time does not exist, with the field names of the proto. */
export function timesThatDoNotExist(message: DescMessage, text: string): readonly string[] {
  if (!doubtful.test(text)) return [];
  return [...fieldsIn(message, JSON.parse(text) as JsonValue)].flatMap(({ field, value, path }) => {
    const isTime = field.message?.typeName === "google.protobuf.Timestamp" && typeof value === "string";
    return isTime && parseInstant(value) === undefined ? [path] : [];
  });
}

/** A value of a field, with its path in the names of the proto. */
interface GivenField {
  readonly field: DescField;
  readonly value: JsonValue;
  readonly path: string;
}

/**
 * Yields the values of all fields that hold messages, at any depth. An item of a list is a value of
 * its own. Skips maps, and values of another shape, which the library rejects: a list can have 100,000 items.
 */
function* fieldsIn(message: DescMessage, json: JsonValue, path = ""): Generator<GivenField> {
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
