// The types of the REST interface for the client, made from the OpenAPI document by openapi-typescript.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { openApiDocument } from "../gateway/openapi.ts";

/** Where the client keeps them. */
export const clientSchemaFile = "client/src/schema.ts";
const opening =
  "// The types of the REST interface, generated from the OpenAPI document by `npm run generate`, do not edit.\n";

/** Writes the types anew. False when the generator failed, which has then reported why. */
export function generateClientSchema(): boolean {
  const schema = clientSchema();
  if (schema !== undefined) writeFileSync(clientSchemaFile, schema);
  return schema !== undefined;
}

/** Whether the file is what the document generates. */
export function isClientSchemaGenerated(): boolean {
  return clientSchema() === readFileSync(clientSchemaFile, "utf8");
}

/** The types as text, of the document with the settings' defaults. */
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
