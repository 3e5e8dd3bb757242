// The OpenAPI document: valid, complete, and as the specification has it.
import { getOption } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { parse, stringify } from "yaml";
import type { OpenApiOptions } from "../../src/http/openapi-settings.ts";
import { interfaceDocuments, openApiDocument } from "../../gateway/openapi.ts";
import type { FailureReason } from "../../src/call/errors.ts";
import { failures } from "../../src/call/errors.ts";
import { ReasonSchema, reason } from "../../src/gen/records/v1/errors_pb.ts";
import { parseInstant } from "../../src/text/instant.ts";
import { ajv, checkerOf, document, operationOf, operations, options } from "./document.ts";

test("is version 1.0.0 of Records, in OpenAPI 3.1 [OAS-02]", () => {
  expect(document).toMatchObject({
    openapi: "3.1.0",
    info: { title: "Records", version: "1.0.0" },
    servers: [{ url: "https://records.example" }],
  });
});

test("every schema compiles and every reference has a target", () => {
  for (const name of Object.keys(document.components.schemas))
    expect(checkerOf(`#/components/schemas/${name}`)).toBeTypeOf("function");
  for (const part of within(document)) {
    if (!("$ref" in part)) continue;
    const target = String(part.$ref)
      .slice(2)
      .split("/")
      .reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], document);
    expect(target, String(part.$ref)).toBeTypeOf("object");
  }
  for (const operation of operations.values())
    for (const { schema } of operation.parameters ?? []) expect(ajv.compile(schema)).toBeTypeOf("function");
});

test("has the specification's operations with their statuses and parameters, those of the API key and the audit log, and no other [OAS-03, OAS-05, VER-01, CCR-05]", () => {
  const summary = Object.fromEntries(
    [...operations].map(([name, operation]) => [
      name,
      [
        Object.keys(operation.responses).join(" "),
        ...(operation.parameters ?? []).map(
          (parameter) => `${parameter.in} ${parameter.name}${parameter.required ? "!" : ""}`,
        ),
      ],
    ]),
  );
  expect(summary).toEqual({
    "GET /v1/health": ["200 429 default"],
    "GET /v1/contacts": ["200 401 422 429 default", "query query!"],
    "POST /v1/contacts": ["201 401 403 404 409 422 429 503 default", "header Idempotency-Key"],
    "GET /v1/contacts/{contact_id}": ["200 401 404 422 429 default", "path contact_id!"],
    "PATCH /v1/contacts/{contact_id}": ["200 401 403 404 409 422 429 503 default", "path contact_id!"],
    "POST /v1/contacts/{contact_id}/notes": [
      "201 401 403 404 409 422 429 503 default",
      "path contact_id!",
      "header Idempotency-Key",
    ],
    "GET /v1/sessions": [
      "200 401 422 429 default",
      "query query",
      "query contact_id",
      "query from",
      "query to",
      "query limit",
      "query offset",
    ],
    "GET /v1/sessions/{session_id}": ["200 401 404 422 429 default", "path session_id!"],
    "GET /v1/sessions/{session_id}/transcript": ["200 401 404 422 429 default", "path session_id!"],
    "GET /v1/notes": ["200 401 422 429 default", "query query!", "query limit", "query offset"],
    "GET /v1/api-key": ["200 401 403 404 422 429 default"],
    "POST /v1/api-key": ["201 401 403 409 422 429 default"],
    "POST /v1/api-key/rotate": ["201 401 403 404 422 429 default"],
    "DELETE /v1/api-key": ["200 401 403 404 422 429 default", "query id"],
    "GET /v1/audit-log": ["200 401 403 422 429 default", "query limit", "query offset"],
  });
});

test("has the limits of every parameter [OAS-03, OAS-04]", () => {
  const schemas = Object.fromEntries(
    [...(operationOf("GET /v1/sessions").parameters ?? []), ...(operationOf("POST /v1/contacts").parameters ?? [])].map(
      ({ name, schema }) => [name, schema],
    ),
  );
  const instant = { type: "string", pattern: expect.stringMatching(/^\^.*\$$/) };
  expect(schemas).toEqual({
    query: { type: "string", minLength: 2, maxLength: 100 },
    contact_id: { type: "string", format: "uuid" },
    from: instant,
    to: instant,
    limit: { type: "integer", format: "int32", minimum: 1, maximum: 25, default: 10 },
    offset: { type: "integer", format: "int32", minimum: 0, maximum: 2_147_483_647, default: 0 },
    "Idempotency-Key": { type: "string", minLength: 1, maxLength: 128, pattern: "^[!-~]+$" },
  });
  expect(operationOf("GET /v1/notes").parameters).toMatchObject([
    { name: "query", schema: { minLength: 2, maxLength: 100 } },
    { name: "limit", schema: { default: 15, maximum: 25 } },
    { name: "offset" },
  ]);
});

test.each([
  ["2026-01-31", "2028-02-29", "2000-02-29", "0000-02-29", "2026-04-30", "2026-12-31t23:59:59.999999z"],
  ["2026-02-29", "1900-02-29", "2026-04-31", "2026-13-01", "2026-00-10", "2026-01-00", "26-01-31", "2026-1-31"],
  ["2026-01-31T09:30:00Z", "2026-01-31T00:00:00.1+23:59", "2026-01-31T09:30:00-00:00"],
  ["2026-01-31T24:00:00Z", "2026-01-31T09:60:00Z", "2026-01-31T09:30:60Z", "2026-01-31T09:30Z", "2026-01-31T09:30:00"],
  ["2026-01-31T09:30:00+24:00", "2026-01-31T09:30:00+01:60", "2026-01-31 09:30:00Z", "2026-01-31\n", "x2026-01-31", ""],
])("the pattern of a date or date-time accepts what the service accepts: %s … [OAS-03]", (...texts) => {
  const { schema } = operationOf("GET /v1/sessions").parameters?.find(({ name }) => name === "from") ?? {};
  const pattern = new RegExp(String((schema as { pattern?: string } | undefined)?.pattern), "u");
  for (const text of texts) expect([text, pattern.test(text)]).toEqual([text, parseInstant(text) !== undefined]);
});

test("no schema has a name that generators use for the response of an operation", () => {
  const taken = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods as Record<string, { operationId: string }>).map(
      ({ operationId: id }) => `${id.charAt(0).toUpperCase()}${id.slice(1)}Response`,
    ),
  );
  expect(taken).toContain("UpdateContactResponse");
  expect(Object.keys(document.components.schemas).filter((name) => taken.includes(name))).toEqual([]);
});

test("every object and every enum of a body is a named schema, for which generators create one type", () => {
  const { schemas } = document.components;
  const nested = Object.values(schemas).flatMap((schema) => within(schema).filter((part) => part !== schema));
  expect(nested.filter((part) => ("type" in part && part.type === "object") || "enum" in part)).toEqual([]);
  expect(schemas).toMatchObject({ ApiKeyAccess: { enum: ["read_write", "read_only"] }, ErrorDetail: {} });
});

test("no schema has the name of a type of Go, Java, Python or TypeScript, or another schema's name in another case", () => {
  const names = Object.keys(document.components.schemas);
  const types = ["Any", "Class", "Client", "Configuration", "Date", "Error", "Exception", "List", "Map", "Object"];
  const more = ["Promise", "Record", "Request", "Response", "Set", "String", "Type"];
  expect(names.filter((name) => [...types, ...more].includes(name))).toEqual([]);
  expect(new Set(names.map((name) => name.replaceAll("_", "").toLowerCase())).size).toBe(names.length);
});

test("names its license and a contact", () => {
  expect(document.info).toMatchObject({
    license: { name: "MIT", identifier: "MIT" },
    contact: { name: "The operator of this service", url: document.servers[0]?.url },
  });
});

test("is the same to a reader of YAML 1.1: no string becomes a date or a boolean", () => {
  const yaml = interfaceDocuments(options).get("/openapi.yaml")?.render().toString() ?? "";
  expect(parse(yaml, { version: "1.1" })).toEqual(openApiDocument(options));
  expect(parse("day: 2026-01-31", { version: "1.1" })).not.toEqual({ day: "2026-01-31" });
});

test("has the limits of every property, and rejects others [OAS-03]", () => {
  expect(document.components.schemas["CreateContactRequest"]).toMatchObject({
    properties: {
      full_name: { type: "string", minLength: 1, maxLength: 200 },
      email: { type: ["string", "null"], maxLength: 254, pattern: "^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$" },
      phone: { type: ["string", "null"], maxLength: 50 },
    },
    required: ["full_name"],
    additionalProperties: false,
  });
  expect(document.components.schemas["UpdateContactRequest"]).toMatchObject({
    properties: { full_name: { type: "string" }, email: { type: ["string", "null"] } },
    minProperties: 1,
    additionalProperties: false,
  });
  expect(document.components.schemas["UpdateContactRequest"]?.required).toBeUndefined();
  expect(document.components.schemas["AppendContactNoteRequest"]).toMatchObject({
    properties: { content: { type: "string", minLength: 1, maxLength: 10_000 } },
    required: ["content"],
  });
});

test("every response has the common headers and those of its status", () => {
  for (const [name, operation] of operations) {
    for (const [status, { headers }] of Object.entries(operation.responses)) {
      const created =
        status !== "201" || name.includes("api-key")
          ? []
          : name === "POST /v1/contacts"
            ? ["Location", "Idempotent-Replayed"]
            : ["Idempotent-Replayed"];
      const more = status === "401" ? ["WWW-Authenticate"] : status === "429" ? ["Retry-After"] : created;
      expect(Object.keys(headers), `${name} ${status}`).toEqual([
        "RateLimit-Limit",
        "RateLimit-Policy",
        "X-Request-Id",
        ...more,
      ]);
    }
  }
});

test("health requires no credential, the operations on the API key and the audit log the cookie in force, and all others an API key [HLT-01, OAS-05]", () => {
  const securitySchemes = {
    apiKey: { type: "http", scheme: "bearer" },
    dashboardSession: { type: "apiKey", in: "cookie", name: "__Host-session" },
  };
  expect(document).toMatchObject({ security: [{ apiKey: [] }], components: { securitySchemes } });
  const cookie = [{ dashboardSession: [] }];
  expect(
    Object.fromEntries(
      [...operations]
        .filter(([, operation]) => operation.security !== undefined)
        .map(([name, operation]) => [name, operation.security]),
    ),
  ).toEqual({
    "GET /v1/health": [],
    "GET /v1/api-key": cookie,
    "POST /v1/api-key": cookie,
    "POST /v1/api-key/rotate": cookie,
    "DELETE /v1/api-key": cookie,
    "GET /v1/audit-log": cookie,
  });
});

test("shows the provider's name and the limits in force, and no build details [OAS-04]", () => {
  const { properties = {}, required } = document.components.schemas["SessionDetail"] ?? {};
  expect(Object.keys(properties)).toEqual(required);
  expect(properties).toMatchObject({ acme_doc_url: { type: ["string", "null"] } });
  expect(document.components.headers).toMatchObject({
    "RateLimit-Limit": { example: 7 },
    "RateLimit-Policy": { example: "7;w=1" },
  });
  expect(JSON.stringify(document)).not.toMatch(/x-provider-name|x-generated|provider_doc_url/);
});

test("describes what the specification leaves open [OAS-06]", () => {
  for (const word of [
    "null",
    "in this order",
    "seen twice or missed",
    "24 hours",
    "X-Request-Id",
    "<limit>;w=<seconds>",
  ])
    expect(document.info.description).toContain(word);
});

test.each<Partial<OpenApiOptions>>([
  {},
  { baseUrl: "http://[::1]:8080/records", documentProvider: "provider_2", rateLimit: 987 },
  { sessionCookie: "__Host-records_session", rateLimit: 1_000_000 },
])("is the same document in JSON and in YAML, with the settings %j", (changes) => {
  const settings = { ...options, ...changes };
  const files = interfaceDocuments(settings);
  const document = openApiDocument(settings);
  const yaml = files.get("/openapi.yaml")?.render().toString() ?? "";
  expect(JSON.parse(files.get("/openapi.json")?.render().toString() ?? "")).toEqual(document);
  expect(parse(yaml)).toEqual(document);
  // As the library writes it with these settings: no placeholder is left, and no string gets quotes that it needs.
  expect(yaml).toBe(stringify(document, { schema: "yaml-1.1" }));
  // Written out, for readers that know no references of YAML's own.
  expect(yaml).not.toMatch(/: [&*]a\d/);
  expect([...files.values()].map(({ type }) => type)).toEqual([
    "application/json; charset=utf-8",
    "application/yaml; charset=utf-8",
    "application/octet-stream",
  ]);
});

test("the proto and the table of failures agree on the status of every reason", () => {
  const ofProto = ReasonSchema.values.map((value) => [value.number, getOption(value, reason).httpStatus]);
  const ofTable = Object.entries(failures).map(([number, { http }]) => [Number(number), http]);
  expect(ofProto).toEqual(ofTable);
  expect(failures[ReasonSchema.value[14]?.number as FailureReason].http).toBe(503);
});

/** Every object in a value, itself included. */
function within(value: unknown): object[] {
  if (typeof value !== "object" || value === null) return [];
  return [value, ...Object.values(value).flatMap(within)];
}
