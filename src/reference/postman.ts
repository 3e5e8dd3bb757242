// Generates /postman.json from the OpenAPI document in force: a Postman Collection v2.1, for Bruno and Insomnia too.
import type { OpenApiDocument } from "../http/openapi-settings.ts";
import type { OperationSummary } from "./operations.ts";
import { keyScheme, listOperations } from "./operations.ts";

/** Returns the collection: a folder for each tag, with the operations that an API key may call, or anyone. */
export function postmanCollection(document: OpenApiDocument, baseUrl: string): object {
  const { info } = document;
  const operations = listOperations(document).filter(({ scheme }) => scheme === undefined || scheme === keyScheme);
  const tags = [...new Set(operations.map(({ tag }) => tag))];
  const names = new Set(operations.flatMap(({ path }) => parameterNames(path)));
  return {
    info: {
      name: info.title,
      description: `${info.title} ${info.version}. Set the variable apiKey, and the ids of records that you want to read or change.`,
      schema: "https://schema.getpostman.com/json/collection/v2.1.0/collection.json",
    },
    auth: { type: "bearer", bearer: [{ key: "token", value: "{{apiKey}}", type: "string" }] },
    variable: [
      { key: "baseUrl", value: baseUrl },
      { key: "apiKey", value: "", type: "secret" },
      ...[...names].map((key) => ({ key, value: "" })),
    ],
    item: tags.map((name) => ({
      name,
      item: operations.filter(({ tag }) => tag === name).map(requestOf),
    })),
  };
}

function requestOf({ method, path, summary, scheme, query, body, idempotencyKey }: OperationSummary): object {
  const segments = path.slice(1).replace(/\{(\w+)\}/g, "{{$1}}");
  const required = query
    .filter((one) => one.required)
    .map(({ name, example = "" }) => [name, example] as [string, string]);
  return {
    name: summary,
    request: {
      method,
      ...(scheme === undefined && { auth: { type: "noauth" } }),
      header: [
        ...(body === undefined ? [] : [{ key: "Content-Type", value: "application/json" }]),
        // Repeating the request in Postman makes another record. To retry one, replace the variable by a fixed key.
        ...(idempotencyKey ? [{ key: "Idempotency-Key", value: "{{$guid}}" }] : []),
      ],
      url: {
        // Bruno sends this address, and Postman the one of the parts.
        raw: `{{baseUrl}}/${segments}${required.length === 0 ? "" : `?${new URLSearchParams(required).toString()}`}`,
        host: ["{{baseUrl}}"],
        path: segments.split("/"),
        query: query.map(({ name, required, example = "" }) => ({
          key: name,
          value: example,
          ...(!required && { disabled: true }),
        })),
      },
      ...(body !== undefined && {
        body: { mode: "raw", raw: JSON.stringify(body, null, 2), options: { raw: { language: "json" } } },
      }),
    },
  };
}

function parameterNames(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
}
