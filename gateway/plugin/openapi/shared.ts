// The parts of the document that all operations share: the error envelope, headers and security schemes.
import type { JsonObject } from "./schema.ts";
import { reference } from "./schema.ts";

/** `components.headers`. The limits are the defaults; `withSettings` replaces them with those in force. */
export const headers: Record<string, JsonObject> = {
  "RateLimit-Limit": {
    required: true,
    description: "The number of requests allowed per second. Short bursts are allowed.",
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
    description:
      "Identifies the request in the logs. It is the `X-Request-Id` of the request, if that is valid, or else a new one.",
    schema: { type: "string", minLength: 1, maxLength: 128, pattern: "^[A-Za-z0-9._-]+$" },
  },
  "Retry-After": {
    required: true,
    description: "The number of seconds to wait before you retry.",
    schema: { type: "integer", minimum: 1 },
    example: 1,
  },
  "WWW-Authenticate": {
    required: true,
    description: "The authentication scheme.",
    schema: { type: "string", const: "Bearer" },
  },
  Location: {
    required: true,
    description: "The path of the new record.",
    schema: { type: "string", format: "uri-reference" },
  },
  "Idempotent-Replayed": {
    description: "Present if this is a replay of the response to an earlier request with the same `Idempotency-Key`.",
    schema: { type: "string", const: "true" },
  },
};

/** The headers of every response. */
export const everyHeader = ["RateLimit-Limit", "RateLimit-Policy", "X-Request-Id"];

/** The header that makes a write idempotent. */
export const idempotencyKey: JsonObject = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "Identifies the request, so that you can retry it safely. For 24 hours, repeating the request with the same key returns the original response, with `Idempotent-Replayed: true`. The same key with another request gets 409.",
  schema: { type: "string", minLength: 1, maxLength: 128, pattern: "^[!-~]+$" },
  example: "8e03978e-40d5-43e8-bc93-6894a57f9324",
};

/** The name of the schema of every failure. It is not `Error`, because most languages have a type of that name. */
export const errorName = "ErrorResult";

/** The schemas of a failure. Each object has a name, because generators invent one for an inline object. */
export const errorSchemas: Record<string, JsonObject> = {
  [errorName]: {
    type: "object",
    description: "The body of every error response.",
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
        description: "A human-readable description of the error. It names every invalid field.",
        examples: ["email: must be at most 254 characters"],
      },
      reason: {
        type: "string",
        pattern: "^[A-Z][A-Z0-9_]*$",
        description:
          "The reason, for programs: one of the names on the page of errors, the same as over Connect and gRPC. Later releases can add reasons.",
        examples: ["INVALID_REQUEST"],
      },
      details: {
        type: "array",
        description: "The invalid parts of the request. Absent if the error is not about a part of it.",
        items: reference("schemas", "ErrorDetail"),
      },
    },
    required: ["code", "message", "reason"],
  },
  ErrorDetail: {
    type: "object",
    description: "An invalid part of a request.",
    properties: {
      field: {
        type: "string",
        description: "The parameter, header or property, as the request spells it. Empty for the whole body.",
      },
      rule: { type: "string", description: "A machine-readable name of the violated rule." },
      message: { type: "string", description: "A human-readable description of the constraint." },
      contact_id: {
        type: "string",
        format: "uuid",
        description: "The contact that already has the value. Only with `DUPLICATE_EMAIL`.",
      },
    },
    required: ["field", "rule", "message"],
  },
};

/** `components.securitySchemes`, by the operation's credential. */
export const securitySchemes: Record<"key" | "session", JsonObject> = {
  key: { type: "http", scheme: "bearer", description: "An API key. Create it on the dashboard." },
  session: {
    type: "apiKey",
    in: "cookie",
    name: "records_session",
    description: "The cookie of a signed-in dashboard session.",
  },
};

/** The names of the security schemes in the document. */
export const schemeNames = { key: "apiKey", session: "dashboardSession" } as const;
