// The OpenAPI document in force: the generated one, completed from the configuration.
import { stringify } from "yaml";
import generated from "../src/gen/openapi.json" with { type: "json" };
import { providerMark } from "./provider-mark.ts";
import type { ServedText } from "./served-text.ts";
import { lazily } from "./served-text.ts";

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
    readonly contact: { readonly name: string; url: string };
  };
  servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, unknown>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly headers: Readonly<Record<string, { example?: unknown }>>;
    readonly securitySchemes: Readonly<Record<string, { name?: string }>>;
  };
}

interface Schema {
  properties?: Readonly<Record<string, object>>;
  required?: readonly string[];
}

/** Returns a new document for these options. */
export function openApiDocument(options: OpenApiOptions): OpenApiDocument {
  const { baseUrl, documentProvider, rateLimit, sessionCookie } = options;
  const { "x-generated": _, ...rest } = generated;
  const document: OpenApiDocument = structuredClone(rest) as OpenApiDocument;
  document.servers = [{ url: baseUrl }];
  document.info.contact.url = baseUrl;
  for (const schema of Object.values(document.components.schemas)) nameProvider(schema, documentProvider);
  const session = document.components.securitySchemes["dashboardSession"];
  if (session !== undefined) session.name = sessionCookie;
  setExample(document, "RateLimit-Limit", rateLimit);
  setExample(document, "RateLimit-Policy", `${rateLimit};w=1`);
  return document;
}

/** Returns the served forms of the document, by path. */
export function openApiFiles(options: OpenApiOptions): ReadonlyMap<string, ServedText> {
  return new Map([
    ["/openapi.json", lazily("application/json; charset=utf-8", () => JSON.stringify(openApiDocument(options)))],
    ["/openapi.yaml", lazily("application/yaml; charset=utf-8", () => yamlOf(openApiDocument(options)))],
  ]);
}

/**
 * Returns YAML with quotes around strings that YAML 1.1 would read as another type, such as `2026-01-31` (a date) or
 * `no` (false).
 */
function yamlOf(document: OpenApiDocument): string {
  return stringify(document, { schema: "yaml-1.1" });
}

function nameProvider(schema: Schema, provider: string): void {
  const marked = Object.entries(schema.properties ?? {})
    .filter(([, property]) => providerMark in property)
    .map(([name]) => name);
  if (marked.length === 0) return;
  const nameOf = (name: string): string => (marked.includes(name) ? name.replace("provider", provider) : name);
  schema.properties = Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([name, property]) => [
      nameOf(name),
      Object.fromEntries(Object.entries(property).filter(([keyword]) => keyword !== providerMark)),
    ]),
  );
  schema.required = schema.required?.map(nameOf) ?? [];
}

function setExample(document: OpenApiDocument, header: string, example: unknown): void {
  const found = document.components.headers[header];
  if (found !== undefined) found.example = example;
}
