// JSON Schemas of tools that are operations: taken from the OpenAPI document, in the form that MCP requires.
import type { OpenApiDocument } from "./openapi-settings.ts";
import { table } from "./route.ts";

/** A JSON Schema (2020-12) of an object. */
export interface ObjectSchema {
  readonly type: "object";
  readonly [keyword: string]: unknown;
}

/** The schemas of a tool's arguments and of its result. */
export interface ToolSchemas {
  readonly input: ObjectSchema;
  readonly output: ObjectSchema;
}

interface Parameter {
  readonly name: string;
  readonly required: boolean;
  readonly description: string;
  readonly schema: object;
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly responses: Readonly<
    Record<
      string,
      { readonly content: { readonly "application/json": { readonly schema: { readonly $ref: string } } } }
    >
  >;
}

const componentPrefix = "#/components/schemas/";

/**
 * Returns the schemas of an operation, each self-contained. Unknown arguments are rejected, but responses may gain
 * members. Throws an Error if the document has no such operation, or no response for it.
 */
export function toolSchemas(document: OpenApiDocument, operationId: string): ToolSchemas {
  const items = Object.values(document.paths) as Readonly<Record<string, Operation>>[];
  const operation = items.flatMap((item) => Object.values(item)).find((one) => one.operationId === operationId);
  const response = operation?.responses["200"]?.content["application/json"].schema.$ref;
  if (operation === undefined || response === undefined)
    throw new Error(`the OpenAPI document has no operation ${operationId} with a response`);
  const parameters = operation.parameters ?? [];
  const route = table.find(({ rpc }) => rpc.localName === operationId);
  const optional = (route?.query ?? []).filter((field) => field.optionalBeyondRest).map(({ name }) => name);
  return {
    input: {
      type: "object",
      properties: {
        ...Object.fromEntries(parameters.map(({ name, description, schema }) => [name, { ...schema, description }])),
        ...route?.beyond?.parameters,
      },
      required: parameters.filter(({ name, required }) => required && !optional.includes(name)).map(({ name }) => name),
      additionalProperties: false,
    },
    output: selfContained(document, response.slice(componentPrefix.length), route?.beyond?.response),
  };
}

/**
 * Returns a component with everything that it refers to under `$defs`. `beyond` adds properties that REST does not
 * have.
 */
function selfContained({ components }: OpenApiDocument, name: string, beyond: object = {}): ObjectSchema {
  const definitions = new Map<string, unknown>();
  const local = (schema: unknown): unknown => {
    if (Array.isArray(schema)) return schema.map(local);
    if (typeof schema !== "object" || schema === null) return schema;
    const { $ref, ...rest } = schema as { readonly $ref?: string };
    const component = $ref?.slice(componentPrefix.length);
    const named = component === undefined ? undefined : components.schemas[component];
    // Enums are inlined: an assistant pays for every definition, and no code generator reads this schema.
    if (named !== undefined && "enum" in named) return { ...named, ...rest };
    const parts = Object.entries(rest).map(([keyword, value]) => [keyword, local(value)]);
    return { ...(component !== undefined && { $ref: define(component) }), ...Object.fromEntries(parts) };
  };
  const define = (component: string): string => {
    if (!definitions.has(component)) {
      // Registered before its schema is visited, because it may refer to itself.
      definitions.set(component, {});
      definitions.set(component, local(components.schemas[component]));
    }
    return `#/$defs/${component}`;
  };
  const schema = components.schemas[name] ?? {};
  const properties = { ...schema.properties, ...beyond };
  const whole = local(Object.keys(beyond).length === 0 ? schema : { ...schema, properties }) as object;
  return { ...whole, type: "object", ...(definitions.size > 0 && { $defs: Object.fromEntries(definitions) }) };
}
