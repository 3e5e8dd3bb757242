// The JSON Schemas of a tool that is an operation: the same descriptors as in the OpenAPI document, in the form that
// MCP takes.
import type { OpenApiDocument } from "./openapi.ts";
import { table } from "./route.ts";

/** A JSON Schema (2020-12) of an object. */
export interface ObjectSchema {
  readonly type: "object";
  readonly [keyword: string]: unknown;
}

/** What goes into a tool and what comes out. */
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
 * The schemas of an operation, each whole in itself. Arguments that are not named are rejected; responses may gain
 * members.
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

/** A component, with properties `beyond` those of REST, and with everything that it refers to under `$defs`. */
function selfContained({ components }: OpenApiDocument, name: string, beyond: object = {}): ObjectSchema {
  const definitions = new Map<string, unknown>();
  const local = (schema: unknown): unknown => {
    if (Array.isArray(schema)) return schema.map(local);
    if (typeof schema !== "object" || schema === null) return schema;
    const { $ref, ...rest } = schema as { readonly $ref?: string };
    const component = $ref?.slice(componentPrefix.length);
    const named = component === undefined ? undefined : components.schemas[component];
    // In place: an assistant pays for every definition, and a generator reads none of this.
    if (named !== undefined && "enum" in named) return { ...named, ...rest };
    const parts = Object.entries(rest).map(([keyword, value]) => [keyword, local(value)]);
    return { ...(component !== undefined && { $ref: define(component) }), ...Object.fromEntries(parts) };
  };
  const define = (component: string): string => {
    if (!definitions.has(component)) {
      // Named before it is gone into, for it may refer to itself.
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
