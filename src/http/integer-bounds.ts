// The bounds of integer fields, and the message for a value beyond the type of its field, which no message can hold.
import { INT32_MAX, INT32_MIN } from "@bufbuild/protobuf/wire";
import type { Violation } from "../call/errors.ts";

/** The least and the greatest value of a 32-bit integer field. */
export interface IntegerBounds {
  readonly least: number;
  readonly most: number;
}

/** The part of the rules of a field, in either generated form. */
interface Rules {
  readonly type: { readonly case: string | undefined; readonly value?: unknown };
}

interface Int32Rules {
  readonly greaterThan: { readonly case: string | undefined; readonly value?: number };
  readonly lessThan: { readonly case: string | undefined; readonly value?: number };
}

/** Returns the bounds that the rules of a field set (`gte`, `lte`), or else those of its type. */
export function integerBounds({ type }: Rules): IntegerBounds {
  const rules = type.case === "int32" ? (type.value as Int32Rules) : undefined;
  const bound = (rule: Int32Rules["lessThan"] | undefined, name: string, otherwise: number): number =>
    rule?.case === name && rule.value !== undefined ? rule.value : otherwise;
  return { least: bound(rules?.greaterThan, "gte", INT32_MIN), most: bound(rules?.lessThan, "lte", INT32_MAX) };
}

/** Returns the violation of an integer beyond its type, with the bound of its own field; undefined for any other. */
export function beyondType(field: string, value: number, { least, most }: IntegerBounds): Violation | undefined {
  if (value > INT32_MAX) return { field, rule: "range", message: `must be at most ${most}` };
  return value < INT32_MIN ? { field, rule: "range", message: `must be at least ${least}` } : undefined;
}
