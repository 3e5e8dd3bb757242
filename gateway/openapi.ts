// The OpenAPI document in force, and the documents that describe the interface to programs.
import descriptors from "../src/gen/descriptors.json" with { type: "json" };
import generatedYaml from "../src/gen/openapi-yaml.json" with { type: "json" };
import generated from "../src/gen/openapi.json" with { type: "json" };
import { withSettings, type OpenApiDocument, type OpenApiOptions } from "../src/http/openapi-settings.ts";
import { fillTemplate } from "./openapi-template.ts";

/** A document that is served under its own path. */
export interface ServedDocument {
  readonly type: string;
  render(): Buffer;
}

/** Returns a new document for these options. */
export function openApiDocument(options: OpenApiOptions): OpenApiDocument {
  return withSettings(generated, options);
}

/** Returns the document in its served forms, and the descriptor set of the public services, by path. */
export function interfaceDocuments(options: OpenApiOptions): ReadonlyMap<string, ServedDocument> {
  return new Map<string, ServedDocument>([
    [
      "/openapi.json",
      {
        type: "application/json; charset=utf-8",
        render: () => Buffer.from(JSON.stringify(openApiDocument(options))),
      },
    ],
    [
      "/openapi.yaml",
      {
        type: "application/yaml; charset=utf-8",
        render: () => Buffer.from(fillTemplate(generatedYaml.template, options)),
      },
    ],
    ["/records.binpb", { type: "application/octet-stream", render: () => Buffer.from(descriptors.base64, "base64") }],
  ]);
}
