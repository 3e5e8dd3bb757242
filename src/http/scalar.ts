// Reads one value of a path, query, body or tool call as the type of its field (contract §2.4).
import type { Message } from "@bufbuild/protobuf";
import type { Violation } from "../call/errors.ts";
import { beyondType } from "./integer-bounds.ts";
import type { Json } from "./json.ts";
import type { RequestField } from "./route.ts";

/** The value of a field in a request message. */
export type Scalar = string | number | boolean;

/** The message as far as it is valid, and the violations of the rest. */
export interface RequestReading {
  readonly message: Message;
  readonly violations: readonly Violation[];
}

/** The fields of a request message. */
export type Fields = Record<string, Scalar | Message>;

const integerForm = /^(?:0|[1-9][0-9]*)$/;

/** Reads decoded text. Adds a violation and returns undefined if it is invalid. */
export function readText(field: RequestField, text: string, violations: Violation[]): Scalar | undefined {
  switch (field.kind) {
    case "string":
      return field.instant ? restorePlus(text) : text;
    case "int32":
      if (integerForm.test(text)) return readInteger(field, Number(text), violations);
      return rejectValue(field, violations, "must be a whole number in digits, without a sign or leading zeros");
    case "bool":
      if (text === "true" || text === "false") return text === "true";
      return rejectValue(field, violations, "must be true or false");
    case "enum":
      return readName(field, text, violations);
  }
}

/** Reads a value of a body that is not null. Adds a violation and returns undefined if it is invalid. */
export function readValue(field: RequestField, value: Json, violations: Violation[]): Scalar | undefined {
  switch (field.kind) {
    case "string":
      return typeof value === "string" ? value : rejectValue(field, violations, "must be a string");
    case "int32":
      if (typeof value === "number" && Number.isInteger(value)) return readInteger(field, value, violations);
      return rejectValue(field, violations, "must be a whole number");
    case "bool":
      return typeof value === "boolean" ? value : rejectValue(field, violations, "must be true or false");
    case "enum":
      return readName(field, value, violations);
  }
}

function readInteger(
  field: RequestField & { readonly kind: "int32" },
  value: number,
  violations: Violation[],
): number | undefined {
  const violation = beyondType(field.name, value, field);
  if (violation === undefined) return value;
  violations.push(violation);
  return undefined;
}

function readName(
  field: RequestField & { readonly kind: "enum" },
  value: Json,
  violations: Violation[],
): number | undefined {
  if (typeof value === "string" && Object.hasOwn(field.values, value)) return field.values[value];
  return rejectValue(field, violations, `must be one of ${Object.keys(field.values).join(", ")}`, "enum");
}

/** Restores the sign of an offset: in a query, an unescaped `+` is decoded as a blank (contract §2.11). */
function restorePlus(text: string): string {
  const sign = text.length - "+00:00".length;
  return text[sign] === " " ? `${text.slice(0, sign)}+${text.slice(sign + 1)}` : text;
}

function rejectValue(field: RequestField, violations: Violation[], message: string, rule = "type"): undefined {
  violations.push({ field: field.name, rule, message });
}

/** Sets a field of a message, unless the value is undefined. */
export function set(fields: Fields, field: RequestField, value: Scalar | undefined): void {
  if (value !== undefined) fields[field.local] = value;
}

/** Returns the violation of a required field that is missing. */
export function missing(field: RequestField): Violation {
  return { field: field.name, rule: "required", message: "is required" };
}
