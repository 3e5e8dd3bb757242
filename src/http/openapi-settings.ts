// Completes the generated OpenAPI document from the configuration.
import { providerMark } from "./provider-mark.ts";

/** The configuration that the document shows. */
export interface OpenApiOptions {
  /** The public base URL, without a trailing slash. */
  readonly baseUrl: string;
  /** The value of `<provider>` in `<provider>_doc_url` (contract §2.10). */
  readonly documentProvider: string;
  /** The number of requests allowed per second. */
  readonly rateLimit: number;
  /** The name of this instance's dashboard session cookie. */
  readonly sessionCookie: string;
}

/** The parts of an OpenAPI 3.1 document that are used here. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description: string;
    readonly license: { readonly name: string; readonly identifier: string };
    readonly contact: { readonly name: string; readonly url: string };
  };
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, unknown>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly headers: Readonly<Record<string, { readonly example?: unknown }>>;
    readonly securitySchemes: Readonly<Record<string, { readonly name?: string }>>;
  };
}

interface Schema {
  readonly properties?: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
}

/** The keyword of the generated document that says that it is generated. */
interface Generated extends OpenApiDocument {
  readonly "x-generated"?: unknown;
}

/** Returns the generated document with these settings. The result shares all parts that have no setting. */
export function withSettings(generated: object, options: OpenApiOptions): OpenApiDocument {
  const { baseUrl, documentProvider, rateLimit, sessionCookie } = options;
  const { "x-generated": _, ...document } = generated as Generated;
  const { info, components } = document;
  const { schemas, headers, securitySchemes } = components;
  const named = Object.entries(schemas).map(
    ([name, schema]) => [name, nameProvider(schema, documentProvider)] as const,
  );
  return {
    ...document,
    info: { ...info, contact: { ...info.contact, url: baseUrl } },
    servers: [{ url: baseUrl }],
    components: {
      ...components,
      schemas: Object.fromEntries(named),
      headers: {
        ...headers,
        "RateLimit-Limit": { ...headers["RateLimit-Limit"], example: rateLimit },
        "RateLimit-Policy": { ...headers["RateLimit-Policy"], example: `${rateLimit};w=1` },
      },
      securitySchemes: {
        ...securitySchemes,
        dashboardSession: { ...securitySchemes["dashboardSession"], name: sessionCookie },
      },
    },
  };
}

function nameProvider(schema: Schema, provider: string): Schema {
  const marked = Object.entries(schema.properties ?? {})
    .filter(([, property]) => providerMark in property)
    .map(([name]) => name);
  if (marked.length === 0) return schema;
  const nameOf = (name: string): string => (marked.includes(name) ? name.replace("provider", provider) : name);
  return {
    ...schema,
    properties: Object.fromEntries(
      Object.entries(schema.properties ?? {}).map(([name, property]) => [
        nameOf(name),
        Object.fromEntries(Object.entries(property).filter(([keyword]) => keyword !== providerMark)),
      ]),
    ),
    required: schema.required?.map(nameOf) ?? [],
  };
}
