// The OpenAPI document in force, in JSON and in YAML.
import generatedYaml from "../src/gen/openapi-yaml.json" with { type: "json" };
import generated from "../src/gen/openapi.json" with { type: "json" };
import { withSettings, type OpenApiDocument, type OpenApiOptions } from "../src/http/openapi-settings.ts";
import { fillTemplate } from "./openapi-template.ts";
import type { ServedText } from "./served-text.ts";
import { lazyText } from "./served-text.ts";

/** Returns a new document for these options. */
export function openApiDocument(options: OpenApiOptions): OpenApiDocument {
  return withSettings(generated, options);
}

/** Returns the served forms of the document, by path. */
export function openApiFiles(options: OpenApiOptions): ReadonlyMap<string, ServedText> {
  return new Map([
    ["/openapi.json", lazyText("application/json; charset=utf-8", () => JSON.stringify(openApiDocument(options)))],
    ["/openapi.yaml", lazyText("application/yaml; charset=utf-8", () => fillTemplate(generatedYaml.template, options))],
  ]);
}
