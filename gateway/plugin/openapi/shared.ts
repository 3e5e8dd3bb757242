// What all operations share in the document: the error envelope, headers, ways to sign in.
import type { JsonObject } from "./schema.ts";
import { reference } from "./schema.ts";

/**
 * `components.headers`. The limits shown are the default ones; gateway/openapi.ts puts those in force in their place.
 */
export const headers: Record<string, JsonObject> = {
  "RateLimit-Limit": {
    required: true,
    description: "How many requests are allowed per window of one second; a few more at once after a pause.",
    schema: { type: "integer", minimum: 1 },
    example: 10,
  },
  "RateLimit-Policy": {
    required: true,
    description: "The limit and its window in seconds, as `<limit>;w=<seconds>`.",
    schema: { type: "string", pattern: "^[0-9]+;w=[0-9]+$" },
    example: "10;w=1",
  },
  "X-Request-Id": {
    required: true,
    description: "Names the request in our logs. The caller's own `X-Request-Id`, where it sent one of this form.",
    schema: { type: "string", minLength: 1, maxLength: 128, pattern: "^[A-Za-z0-9._-]+$" },
  },
  "Retry-After": {
    required: true,
    description: "How many seconds to wait before trying again.",
    schema: { type: "integer", minimum: 1 },
    example: 1,
  },
  "WWW-Authenticate": {
    required: true,
    description: "The scheme to sign in with.",
    schema: { type: "string", const: "Bearer" },
  },
  Location: {
    required: true,
    description: "The path of what was created.",
    schema: { type: "string", format: "uri-reference" },
  },
  "Idempotent-Replayed": {
    description: "Sent where this is the response to an earlier request with the same `Idempotency-Key`.",
    schema: { type: "string", const: "true" },
  },
};

/** The headers of every response. */
export const everyHeader = ["RateLimit-Limit", "RateLimit-Policy", "X-Request-Id"];

/** The header by which a write is made only once. */
export const idempotencyKey: JsonObject = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "Names the request, so that it can be sent again safely: for 24 hours the same key with the same request gets the response of the first time, with `Idempotent-Replayed: true`. With another request it is refused with 409.",
  schema: { type: "string", minLength: 1, maxLength: 128, pattern: "^[!-~]+$" },
  example: "8e03978e-40d5-43e8-bc93-6894a57f9324",
};

/** The name of the schema of every failure. Not `Error`: most languages have a type of that name. */
export const errorName = "ErrorResult";

/** The schemas of a failure. Each object has a name, because generators invent one for an object without. */
export const errorSchemas: Record<string, JsonObject> = {
  [errorName]: {
    type: "object",
    description: "The body of every response that is not a success.",
    properties: { error: reference("schemas", "ErrorObject") },
    required: ["error"],
  },
  ErrorObject: {
    type: "object",
    description: "What went wrong.",
    properties: {
      code: { type: "string", pattern: "^[0-9]{3}$", description: "The HTTP status.", examples: ["422"] },
      message: {
        type: "string",
        description: "What is wrong, for a person; it names every field that is.",
        examples: ["email: must be at most 254 characters"],
      },
      details: {
        type: "array",
        description:
          "The parts of a request that are wrong, one by one. Left out where the failure is not about such a part.",
        items: reference("schemas", "ErrorDetail"),
      },
    },
    required: ["code", "message"],
  },
  ErrorDetail: {
    type: "object",
    description: "A part of a request that is wrong.",
    properties: {
      field: {
        type: "string",
        description: "The parameter, header or property as the request spells it; empty for the body as a whole.",
      },
      rule: { type: "string", description: "Which rule it breaks, for programs." },
      message: { type: "string", description: "What it must be, for a person." },
    },
    required: ["field", "rule", "message"],
  },
};

/** `components.securitySchemes`, by the credential of an operation. */
export const securitySchemes: Record<"key" | "session", JsonObject> = {
  key: { type: "http", scheme: "bearer", description: "An API key, made in the dashboard (settings, API)." },
  session: {
    type: "apiKey",
    in: "cookie",
    name: "records_session",
    description: "The cookie of a signed-in dashboard session.",
  },
};

/** The names of the schemes in the document. */
export const schemeNames = { key: "apiKey", session: "dashboardSession" } as const;
