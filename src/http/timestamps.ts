// Finds date-times in protobuf's JSON that do not exist. The library turns 30 February into 2 March, but REST rejects
// it (contract §2.11).
import type { DescMessage, JsonValue } from "@bufbuild/protobuf";
import { parseInstant } from "../text/instant.ts";
import { fieldsIn } from "./json-fields.ts";

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
