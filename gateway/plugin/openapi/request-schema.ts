// Schemas of requests. They must show every validation rule, so a rule that OpenAPI cannot express is rejected here.
import type { DescEnum, DescField, DescMessage, Message } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import {
  FieldRulesSchema,
  Int32RulesSchema,
  StringRulesSchema,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { integerBounds } from "../../../src/http/integer-bounds.ts";
import { messageName } from "../names.ts";
import type { Options } from "../options.ts";
import { requestKind } from "../request-field.ts";
import { description } from "./comments.ts";
import type { JsonObject } from "./schema.ts";
import { enumSchema, orNull, reference } from "./schema.ts";

/**
 * Returns the schema of a path or query parameter. Throws an Error that names the field for a rule that OpenAPI cannot
 * express. A date or date-time is a pattern, because generators find no type for a string with either of two formats.
 */
export function parameterSchema(field: DescField, options: Options): JsonObject {
  return isInstant(field, options) ? { type: "string", pattern: dateOrDateTime } : argumentSchema(field, options);
}

/** Returns the description of a parameter, with both forms of a date or date-time. */
export function parameterText(field: DescField, options: Options): string {
  return `${description(field)}${isInstant(field, options) ? " Write it as `2026-01-31` or `2026-01-31T09:30:00Z`." : ""}`;
}

function argumentSchema(field: DescField, options: Options): JsonObject {
  const schema = valueSchema(field, options);
  // Query integers have no sign (contract §2.4).
  return schema.type === "integer" ? { ...schema, minimum: Math.max(0, Number(schema.minimum)) } : schema;
}

/** Returns the schemas of a tool's arguments, by name, each with its description. */
export function parameterSchemas(fields: readonly DescField[], options: Options): JsonObject {
  return Object.fromEntries(
    fields.map((field) => [field.name, { ...argumentSchema(field, options), description: description(field) }]),
  );
}

/**
 * Returns the schema of a property of a body. Throws an Error that names the field for a rule that OpenAPI cannot
 * express.
 */
export function propertySchema(field: DescField, options: Options): JsonObject {
  const rules = options.field(field);
  const nullable = !options.validate(field).required && rules?.notNull !== true;
  const schema = field.enum === undefined ? valueSchema(field, options) : reference("schemas", messageName(field.enum));
  return {
    ...(nullable ? orNull(schema) : schema),
    description: description(field),
    ...exampleOf(field, options, (example) => ({ examples: [example] })),
  };
}

/** Returns the result of `wrap` for the field's example, or an empty object if it has none. */
export function exampleOf(field: DescField, options: Options, wrap: (example: string) => JsonObject): JsonObject {
  const example = options.field(field)?.example ?? "";
  return example === "" ? {} : wrap(example);
}

function valueSchema(field: DescField, options: Options): JsonObject {
  expectOnly(field, FieldRulesSchema, options.validate(field), ["required", "string", "int32"]);
  switch (requestKind(field)) {
    case "string":
      return stringSchema(field, options);
    case "int32":
      return integerSchema(field, options);
    case "bool":
      return { type: "boolean" };
    case "enum":
      return enumSchema(enumOf(field));
  }
}

function isInstant(field: DescField, options: Options): boolean {
  return options.field(field)?.format === 1;
}

const leapYear = "([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)";
const monthAndDay =
  "((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))";
const hourAndMinute = "([01][0-9]|2[0-3]):[0-5][0-9]";
/** Matches an existing `full-date` or `date-time` of RFC 3339, as `src/text/instant.ts` reads it. */
const dateOrDateTime = `^([0-9]{4}-${monthAndDay}|${leapYear}-02-29)([Tt]${hourAndMinute}:[0-5][0-9]([.][0-9]+)?([Zz]|[+-]${hourAndMinute}))?$`;

function enumOf({ enum: type, name }: DescField): DescEnum {
  if (type === undefined) throw new Error(`${name} is not an enum`);
  return type;
}

function stringSchema(field: DescField, options: Options): JsonObject {
  if (isInstant(field, options))
    return {
      anyOf: [
        { type: "string", format: "date" },
        { type: "string", format: "date-time" },
      ],
    };
  const { required, type } = options.validate(field);
  const rules = type.case === "string" ? type.value : undefined;
  if (rules !== undefined) expectOnly(field, StringRulesSchema, rules, ["min_len", "max_len", "pattern", "uuid"]);
  if (rules?.pattern !== undefined && rules.pattern !== "" && !options.field(field)?.patternMessage)
    throw new Error(`the pattern of the field ${field.name} needs a pattern_message`);
  if (rules?.wellKnown.case === "uuid") return { type: "string", format: "uuid" };
  // In proto3, a required string cannot be empty, because unset and empty are the same.
  const minLength = Math.max(Number(rules?.minLen ?? 0), required ? 1 : 0);
  return {
    type: "string",
    ...(minLength > 0 && { minLength }),
    ...(rules?.maxLen !== undefined && rules.maxLen > 0n && { maxLength: Number(rules.maxLen) }),
    ...(rules?.pattern !== undefined && rules.pattern !== "" && { pattern: rules.pattern }),
  };
}

function integerSchema(field: DescField, options: Options): JsonObject {
  const { type } = options.validate(field);
  const { least, most } = integerBounds({ type });
  const rules = type.case === "int32" ? type.value : undefined;
  if (rules !== undefined) expectOnly(field, Int32RulesSchema, rules, ["gte", "lte"]);
  const defaultValue = options.field(field)?.defaultValue;
  return {
    type: "integer",
    format: "int32",
    minimum: least,
    maximum: most,
    ...(defaultValue !== undefined && { default: defaultValue }),
  };
}

function expectOnly<Rules extends Message>(
  field: DescField,
  schema: DescMessage,
  rules: Rules,
  known: readonly string[],
): void {
  const set = reflect(schema, rules);
  const unknown = schema.fields.find((rule) => set.isSet(rule) && !known.includes(rule.name));
  if (unknown !== undefined)
    throw new Error(`the rule ${unknown.name} of the field ${field.name} cannot be shown in OpenAPI`);
}
