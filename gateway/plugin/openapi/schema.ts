// JSON Schema (2020-12) as OpenAPI 3.1 takes it, as far as the document uses it.

/** A schema, or any other JSON object of the document. */
export type JsonObject = { readonly [name: string]: unknown };

/** A reference to a part of `components`. */
export function reference(section: "schemas" | "headers", name: string): JsonObject {
  return { $ref: `#/components/${section}/${name}` };
}

/** The schema that takes null as well. */
export function orNull(schema: JsonObject): JsonObject {
  if (typeof schema.type !== "string") return { anyOf: [schema, { type: "null" }] };
  return {
    ...schema,
    type: [schema.type, "null"],
    ...(Array.isArray(schema.enum) && { enum: [...(schema.enum as unknown[]), null] }),
  };
}
