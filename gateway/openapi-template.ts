// The OpenAPI document in YAML as a template, because rendering it takes longer than all else that a start prepares.
import type { OpenApiOptions } from "./openapi-settings.ts";

/** The settings in the template. Each is nowhere else in it, and YAML needs no quotes for it or for a real setting. */
export const placeholders: OpenApiOptions = {
  baseUrl: "https://base-url.invalid",
  documentProvider: "placeholder",
  rateLimit: 987_654_321,
  sessionCookie: "session-cookie-placeholder",
};

/** Returns the template with these settings in place of the placeholders. */
export function fillTemplate(template: string, options: OpenApiOptions): string {
  return template
    .replaceAll(placeholders.sessionCookie, () => options.sessionCookie)
    .replaceAll(placeholders.baseUrl, () => options.baseUrl)
    .replaceAll(`${placeholders.documentProvider}_`, () => `${options.documentProvider}_`)
    .replaceAll(String(placeholders.rateLimit), () => String(options.rateLimit));
}
