// The OpenAPI document as the tests read it, and its schemas as something that checks values.
import { Ajv2020 } from "ajv/dist/2020.js";
import type { ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { openApiDocument } from "../../gateway/openapi.ts";

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: object;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly security?: unknown;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Record<string, { readonly schema: { readonly $ref: string } }>;
  };
  readonly responses: Record<
    string,
    { readonly headers: object; readonly content: Record<string, { readonly schema: { readonly $ref: string } }> }
  >;
}

/** Not the defaults, so that it shows where they are used. */
export const options = {
  baseUrl: "https://records.example",
  documentProvider: "acme",
  rateLimit: 7,
  sessionCookie: "__Host-session",
};

export const document = openApiDocument(options);

/** Its operations, each under the name `GET /v1/contacts`. */
export const operations = new Map(
  Object.entries(document.paths as Record<string, Record<string, Operation>>).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): [string, Operation] => [
      `${method.toUpperCase()} ${path}`,
      operation,
    ]),
  ),
);

export function operationOf(name: string): Operation {
  const operation = operations.get(name);
  if (operation === undefined) throw new Error(`the document has no operation ${name}`);
  return operation;
}

export const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: true, allErrors: true });
addFormats.default(ajv, ["date", "date-time", "uuid", "int32", "double", "uri-reference"]);
ajv.addSchema({
  $id: "records",
  $defs: JSON.parse(
    JSON.stringify(document.components.schemas).replaceAll("#/components/schemas/", "records#/$defs/"),
  ) as object,
});

/** What checks values against the schema to which a reference of the document leads. */
export function checkerOf(reference = "#/components/schemas/ErrorResult"): ValidateFunction {
  return ajv.compile({ $ref: reference.replace("#/components/schemas/", "records#/$defs/") });
}
