// Finds integers in protobuf's JSON that are beyond the type of their field, for which the library has no bounds.
import type { DescMessage, JsonValue } from "@bufbuild/protobuf";
import { ScalarType, getOption } from "@bufbuild/protobuf";
import type { Violation } from "../src/errors.ts";
import { field as fieldRules } from "../src/gen/buf/validate/validate_pb.ts";
import { beyondType, integerBounds } from "./integer-bounds.ts";
import { fieldsIn } from "./json-fields.ts";

/** Returns a violation for each such integer, with the bounds of its own field. The text must be JSON. */
export function integersBeyondType(message: DescMessage, text: string): readonly Violation[] {
  return [...fieldsIn(message, JSON.parse(text) as JsonValue)].flatMap(({ field, value, path }) => {
    if (field.scalar !== ScalarType.INT32 || !Number.isInteger(Number(value))) return [];
    return beyondType(path, Number(value), integerBounds(getOption(field, fieldRules))) ?? [];
  });
}
