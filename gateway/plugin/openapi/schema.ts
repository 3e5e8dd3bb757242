// The subset of JSON Schema (2020-12), as in OpenAPI 3.1, that the document uses.
import type { DescEnum } from "@bufbuild/protobuf";
import { enumNames } from "../names.ts";

/** A schema, or any other JSON object of the document. */
export type JsonObject = { readonly [name: string]: unknown };

/** Returns a reference to a part of `components`. */
export function reference(section: "schemas" | "headers", name: string): JsonObject {
  return { $ref: `#/components/${section}/${name}` };
}

/** Returns the schema of an enum's values. */
export function enumSchema(type: DescEnum): JsonObject {
  return { type: "string", enum: [...enumNames(type)].filter(([number]) => number !== 0).map(([, name]) => name) };
}

/**
 * Returns a schema that also accepts null. An enum must be a reference here, because generators create a value for a
 * `null` in its list.
 */
export function orNull(schema: JsonObject): JsonObject {
  if (typeof schema.type !== "string") return { anyOf: [schema, { type: "null" }] };
  if (schema.enum !== undefined) throw new Error("an enum that may be null has no name");
  return { ...schema, type: [schema.type, "null"] };
}
