// The OpenAPI document in force, in JSON and in YAML.
import generatedYaml from "../src/gen/openapi-yaml.json" with { type: "json" };
import generated from "../src/gen/openapi.json" with { type: "json" };
import { withSettings, type OpenApiDocument, type OpenApiOptions } from "../src/http/openapi-settings.ts";
import { fillTemplate } from "./openapi-template.ts";
import type { ServedDocument } from "./served-document.ts";
import { lazyDocument } from "./served-document.ts";

/** Returns a new document for these options. */
export function openApiDocument(options: OpenApiOptions): OpenApiDocument {
  return withSettings(generated, options);
}

/** Returns the served forms of the document, by path. */
export function openApiFiles(options: OpenApiOptions): ReadonlyMap<string, ServedDocument> {
  return new Map([
    ["/openapi.json", lazyDocument("application/json; charset=utf-8", () => JSON.stringify(openApiDocument(options)))],
    [
      "/openapi.yaml",
      lazyDocument("application/yaml; charset=utf-8", () => fillTemplate(generatedYaml.template, options)),
    ],
  ]);
}
