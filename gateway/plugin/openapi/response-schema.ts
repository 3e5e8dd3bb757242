// Schemas of responses: every field is present, some may be null, and fields may be added (contract §2.1; spec
// Versioning 2).
import type { DescEnum, DescField, DescMessage } from "@bufbuild/protobuf";
import { messageName } from "../names.ts";
import type { Operation } from "../operation.ts";
import type { Options } from "../options.ts";
import type { ResponseType } from "../response-field.ts";
import { providerMark } from "../../../src/http/provider-mark.ts";
import { responseField, restFields } from "../response-field.ts";
import { description } from "./comments.ts";
import type { JsonObject } from "./schema.ts";
import { enumSchema, orNull, reference } from "./schema.ts";

/** Returns the schema of a field's enum: a reference, or an inline enum if nothing can be referred to. */
type OfEnum = (type: DescEnum) => JsonObject;
const byName: OfEnum = (type) => reference("schemas", messageName(type));

/** Returns the schema of a message in responses. */
export function messageSchema(message: DescMessage, options: Options): JsonObject {
  return {
    ...objectSchema(restFields(message, options).map((field) => [field.name, fieldSchema(field, options, byName)])),
    description: description(message),
  };
}

/** Returns the schema of the body of a success: `data` and its siblings. */
export function bodySchema({ rpc, data, siblings }: Operation, options: Options): JsonObject {
  const whole =
    data === undefined
      ? objectSchema(rpc.output.fields.map((field) => [field.name, fieldSchema(field, options, byName)]))
      : fieldSchema(data, options, byName);
  return objectSchema([
    ["data", whole],
    ...siblings.map((field): [string, JsonObject] => [field.name, fieldSchema(field, options, byName)]),
  ]);
}

/** Returns the schemas of fields that REST does not have, by name. */
export function fieldSchemas(fields: readonly DescField[], options: Options): JsonObject {
  return Object.fromEntries(fields.map((field) => [field.name, fieldSchema(field, options, enumSchema)]));
}

function objectSchema(properties: readonly (readonly [string, JsonObject])[]): JsonObject {
  return { type: "object", properties: Object.fromEntries(properties), required: properties.map(([name]) => name) };
}

function fieldSchema(field: DescField, options: Options, ofEnum: OfEnum): JsonObject {
  const { type, repeated, nullable } = responseField(field, options);
  const item = typeSchema(type, field, options, ofEnum);
  const schema = repeated ? { type: "array", items: item } : nullable ? orNull(item) : item;
  const rules = options.field(field);
  return {
    ...schema,
    description: description(field),
    ...(rules?.example !== undefined && rules.example !== "" && { examples: [rules.example] }),
    ...(rules?.providerName === true && { [providerMark]: true }),
  };
}

function typeSchema(type: ResponseType, field: DescField, options: Options, ofEnum: OfEnum): JsonObject {
  switch (type.kind) {
    case "message":
      return reference("schemas", messageName(type.message));
    case "enum":
      return ofEnum(type.enum);
    case "timestamp":
      return { type: "string", format: "date-time" };
    case "integer":
      return { type: "integer", format: "int32" };
    case "number":
      return { type: "number", format: "double" };
    case "boolean":
      return { type: "boolean" };
    case "string": {
      const rules = options.validate(field).type;
      return {
        type: "string",
        ...(rules.case === "string" && rules.value.wellKnown.case === "uuid" && { format: "uuid" }),
      };
    }
  }
}
