// JSON Schemas of tools that are operations: taken from the OpenAPI document, in the short form that assistants accept.
// Every conversation pays for them.
import { INT32_MAX } from "@bufbuild/protobuf/wire";
import type { OpenApiDocument } from "../http/openapi-settings.ts";
import { table } from "../http/route.ts";

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

/** The keywords of arguments. Function calling of Gemini and OpenAI accepts these, and not all others. */
const inputKeywords = new Set(["type", "enum", "items", "minLength", "maxLength", "minimum", "maximum", "default"]);
/** The keywords of results. Models read names and types. */
const outputKeywords = new Set(["type", "enum", "items", "properties", "anyOf"]);
/** Short descriptions of arguments that several tools have. */
const short: Readonly<Record<string, string>> = {
  query: "The words to search for.",
  limit: "The size of the page.",
  offset: "The next_offset of the previous page.",
  any_word: "True finds records with any of the words, the best match first.",
  from: "At or after this date or RFC 3339 date-time.",
  to: "At or before this date or RFC 3339 date-time.",
  brief: "True leaves out notes, memory, timeline and sessions. Use it for long lists.",
  last_session_before:
    "Keeps only contacts whose last past session was before this date or RFC 3339 date-time. One without a past session is left out.",
};
/** Bounds that few accounts reach. A model does nothing else because of them. */
const wideBound = /^(?:Only|With a query, only) the (?:newest|next) \d\d,000 /;

function withoutWideBounds(description: string): string {
  const sentences = description.split(/(?<=\.) /);
  return sentences.filter((sentence) => !wideBound.test(sentence)).join(" ");
}

/**
 * Returns the schemas of an operation, each self-contained. Unknown arguments are rejected, but responses may gain
 * members. `rowProperties` are properties that a tool adds to the rows of a list. Throws an Error if the document has
 * no such operation, or no response for it.
 */
export function toolSchemas(
  document: OpenApiDocument,
  operationId: string,
  rowProperties: Readonly<Record<string, object>> = {},
): ToolSchemas {
  const items = Object.values(document.paths) as Readonly<Record<string, Operation>>[];
  const operation = items.flatMap((item) => Object.values(item)).find((one) => one.operationId === operationId);
  const response = operation?.responses["200"]?.content["application/json"].schema.$ref;
  if (operation === undefined || response === undefined)
    throw new Error(`the OpenAPI document has no operation ${operationId} with a response`);
  const parameters = operation.parameters ?? [];
  const route = table.find(({ rpc }) => rpc.localName === operationId);
  const optional = (route?.query ?? []).filter((field) => field.optionalBeyondRest).map(({ name }) => name);
  const all = {
    ...Object.fromEntries(parameters.map(({ name, description, schema }) => [name, { ...schema, description }])),
    ...route?.beyond?.parameters,
  };
  return {
    input: {
      type: "object",
      properties: Object.fromEntries(Object.entries(all).map(([name, schema]) => [name, argumentSchema(name, schema)])),
      required: parameters.filter(({ name, required }) => required && !optional.includes(name)).map(({ name }) => name),
      additionalProperties: false,
    },
    output: resultSchema(document, response.slice(componentPrefix.length), {
      beyond: route?.beyond?.response ?? {},
      rowProperties,
    }),
  };
}

/** Returns the schema of an argument. A date is a plain string, because bridges reject alternatives. */
function argumentSchema(name: string, schema: object): object {
  const { anyOf, description = "" } = schema as { readonly anyOf?: readonly object[]; readonly description?: string };
  const kept = Object.entries({ ...schema, ...anyOf?.[0] }).filter(
    ([keyword, value]) => inputKeywords.has(keyword) && value !== INT32_MAX,
  );
  return { ...Object.fromEntries(kept), description: short[name] ?? withoutWideBounds(description) };
}

/** What a tool's result has in addition to the response of REST. */
interface Additions {
  readonly beyond: Readonly<Record<string, object>>;
  readonly rowProperties: Readonly<Record<string, object>>;
}

/** Returns a component with everything that it refers to in place: definitions would cost more. */
function resultSchema(
  { components }: OpenApiDocument,
  name: string,
  { beyond, rowProperties }: Additions,
): ObjectSchema {
  const local = (schema: unknown): unknown => {
    if (Array.isArray(schema)) return schema.map(local);
    if (typeof schema !== "object" || schema === null) return schema;
    const { $ref, ...rest } = schema as { readonly $ref?: string };
    const component = $ref?.slice(componentPrefix.length);
    const named = component === undefined ? {} : components.schemas[component];
    return shortSchema({ ...named, ...rest } as Schema);
  };
  const shortSchema = (schema: Schema): object => {
    const { anyOf, properties } = schema;
    if (anyOf !== undefined) return nullable(anyOf.map(local) as readonly Schema[]);
    const kept = Object.entries(schema).filter(([keyword]) => outputKeywords.has(keyword));
    const parts = kept.map(([keyword, value]): [string, unknown] => [
      keyword,
      keyword === "items" ? local(value) : value,
    ]);
    const short: Readonly<Record<string, unknown>> = Object.fromEntries(parts);
    if (properties === undefined) return short;
    const members: Readonly<Record<string, unknown>> = Object.fromEntries(
      Object.entries(properties).map(([member, value]) => [member, local(value)]),
    );
    return { ...short, properties: members };
  };
  const { properties = {} } = components.schemas[name] as Schema;
  const whole = shortSchema({ type: "object", properties: { ...properties, ...beyond } }) as WithRows;
  const items = whole.properties.data?.items;
  if (items !== undefined) items.properties = { ...items.properties, ...rowProperties };
  return { ...whole, type: "object" };
}

interface Schema {
  readonly anyOf?: readonly unknown[];
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly [keyword: string]: unknown;
}

interface WithRows {
  readonly properties: { readonly data?: { readonly items?: { properties: object } } };
}

/** Returns alternatives as one schema if they are a type or null. */
function nullable(alternatives: readonly Schema[]): object {
  const [one, other] = alternatives;
  if (alternatives.length !== 2 || one === undefined || other?.["type"] !== "null") return { anyOf: alternatives };
  return { ...one, type: [one["type"], "null"].flat() };
}
