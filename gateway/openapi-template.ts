// The OpenAPI document in YAML as a template, because rendering it is the slowest part of a start.
import type { OpenApiOptions } from "../src/http/openapi-settings.ts";

/** Stand-ins for the settings. Each occurs nowhere else in the template. No setting needs quotes in YAML. */
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
