// Generates the client's types of the REST interface from the OpenAPI document, with openapi-typescript.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { openApiDocument } from "../gateway/openapi.ts";

export const clientSchemaFile = "client/src/schema.ts";
const opening =
  "// The types of the REST interface, generated from the OpenAPI document by `npm run generate`, do not edit.\n";

/** Regenerates the types. False if the generator failed; it has then reported why. */
export function generateClientSchema(): boolean {
  const schema = clientSchema();
  if (schema !== undefined) writeFileSync(clientSchemaFile, schema);
  return schema !== undefined;
}

/** Whether the file is up to date with the document. */
export function isClientSchemaGenerated(): boolean {
  return clientSchema() === readFileSync(clientSchemaFile, "utf8");
}

/** The source of the types, for the document with the default settings. */
function clientSchema(): string | undefined {
  const document = openApiDocument({
    baseUrl: "http://localhost:8080",
    documentProvider: "google",
    rateLimit: 10,
    sessionCookie: "records_session",
  });
  const { status, stdout } = spawnSync("client/node_modules/.bin/openapi-typescript", [], {
    input: JSON.stringify(document),
    encoding: "utf8",
    stdio: ["pipe", "pipe", "inherit"],
    maxBuffer: 64 * 1024 * 1024,
  });
  return status === 0 ? opening + stdout.slice(stdout.indexOf("export interface paths")) : undefined;
}
