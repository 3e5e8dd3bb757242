// Finds date-times in protobuf's JSON that do not exist. The library turns 30 February into 2 March, but REST rejects
// it (contract §2.11).
import type { DescMessage, JsonValue } from "@bufbuild/protobuf";
import { parseInstant } from "../src/instant.ts";

/**
 * Matches a day that its month may not have, the hour 24, or an escaped character of a date-time. Few texts match, and
 * only those are parsed.
 */
const doubtful = /-(?:02-(?:29|30|31)|(?:04|06|09|11)-31)T|T24:|\\u00(?:2d|3[0-9a]|54)/i;

/** Returns the paths of the fields whose date-time does not exist, with the field names of the proto. */
export function timesThatDoNotExist(message: DescMessage, text: string): readonly string[] {
  return doubtful.test(text) ? within(message, JSON.parse(text) as JsonValue, "") : [];
}

function within(message: DescMessage, json: JsonValue, path: string): readonly string[] {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return [];
  return Object.entries(json).flatMap(([key, value]) => {
    const field = message.fields.find(({ name, jsonName }) => name === key || jsonName === key);
    const inner = field?.fieldKind === "map" ? undefined : field?.message;
    if (field === undefined || inner === undefined) return [];
    const own = path + field.name;
    return Array.isArray(value)
      ? value.flatMap((item, index) => one(inner, item, `${own}[${index}]`))
      : one(inner, value, own);
  });
}

function one(message: DescMessage, value: JsonValue, path: string): readonly string[] {
  if (message.typeName !== "google.protobuf.Timestamp") return within(message, value, `${path}.`);
  return typeof value === "string" && parseInstant(value) === undefined ? [path] : [];
}
