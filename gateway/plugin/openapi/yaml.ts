// Renders the OpenAPI document as a YAML template that the gateway completes.
import type { JsonObject } from "./schema.ts";
import { stringify } from "yaml";
import { withSettings } from "../../../src/http/openapi-settings.ts";
import { placeholders } from "../../openapi-template.ts";

/**
 * Returns YAML with quotes around strings that YAML 1.1 would read as another type, such as `2026-01-31` (a date) or
 * `no` (false). Repeated parts are written out, for readers that do not know YAML's references.
 */
export function yamlTemplate(document: JsonObject): string {
  return stringify(withSettings(document, placeholders), { schema: "yaml-1.1", aliasDuplicateObjects: false });
}
