// The fields that a REST request may have, and their entries in the routing table.
import type { DescField } from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";
import { integerBounds } from "../../src/http/integer-bounds.ts";
import { enumNames } from "./names.ts";
import type { Options } from "./options.ts";

/** The kinds of `RequestField` in src/http/route.ts. */
export type RequestKind = "string" | "int32" | "bool" | "enum";

const scalars: Partial<Record<ScalarType, RequestKind>> = {
  [ScalarType.STRING]: "string",
  [ScalarType.INT32]: "int32",
  [ScalarType.BOOL]: "bool",
};

/** Throws an Error that names the field if the gateway cannot read it. */
export function checkRequestField(field: DescField, options: Options): void {
  const required = options.validate(field).required;
  requestKind(field);
  if (required && field.proto.proto3Optional) throw new Error(`the field ${field.name} is both required and optional`);
  if (!required && !field.proto.proto3Optional)
    throw new Error(`the field ${field.name} must be either required or optional`);
}

/** Returns the kind of a field. Throws an Error for a kind that REST requests do not have. */
export function requestKind(field: DescField): RequestKind {
  const kind = field.fieldKind === "enum" ? "enum" : field.fieldKind === "scalar" ? scalars[field.scalar] : undefined;
  if (kind === undefined || field.oneof !== undefined) {
    throw new Error(`the field ${field.name} of ${field.parent.typeName} is of a kind that REST requests do not have`);
  }
  return kind;
}

/** Returns the field as a `RequestField` of src/http/route.ts, in TypeScript. */
export function printRequestField(field: DescField, options: Options): string {
  const kind = requestKind(field);
  const required = options.validate(field).required;
  const parts = [
    `name: ${JSON.stringify(field.name)}`,
    `local: ${JSON.stringify(field.localName)}`,
    `kind: ${JSON.stringify(kind)}`,
    `required: ${required}`,
    ...(options.field(field)?.optionalBeyondRest === true ? ["optionalBeyondRest: true"] : []),
    `nullable: ${!required && options.field(field)?.notNull !== true}`,
  ];
  if (kind === "string") parts.push(`instant: ${options.field(field)?.format === 1}`);
  if (kind === "int32") {
    const { least, most } = integerBounds(options.validate(field));
    parts.push(`least: ${least}`, `most: ${most}`);
  }
  if (field.enum !== undefined) {
    const values = field.enum.values.filter(({ number }) => number !== 0);
    parts.push(
      `values: { ${values.map((value) => `${enumNames(field.enum).get(value.number)}: ${value.number}`).join(", ")} }`,
    );
  }
  return `{ ${parts.join(", ")} }`;
}
