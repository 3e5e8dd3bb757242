// JSON Schema (2020-12) as OpenAPI 3.1 takes it, as far as the document uses it.
import type { DescEnum } from "@bufbuild/protobuf";
import { enumNames } from "../names.ts";

/** A schema, or any other JSON object of the document. */
export type JsonObject = { readonly [name: string]: unknown };

/** A reference to a part of `components`. */
export function reference(section: "schemas" | "headers", name: string): JsonObject {
  return { $ref: `#/components/${section}/${name}` };
}

/** The schema of an enum's values. */
export function enumSchema(type: DescEnum): JsonObject {
  return { type: "string", enum: [...enumNames(type)].filter(([number]) => number !== 0).map(([, name]) => name) };
}

/** The schema that takes null as well. An enum is a reference here: generators make a value of a `null` in its list. */
export function orNull(schema: JsonObject): JsonObject {
  if (typeof schema.type !== "string") return { anyOf: [schema, { type: "null" }] };
  if (schema.enum !== undefined) throw new Error("an enum that may be null has no name");
  return { ...schema, type: [schema.type, "null"] };
}
