// An operation as a tool: the schemas of what goes in and comes out, and how its arguments are read.
import { expect, test } from "vitest";
import { createArgumentReader } from "../../src/mcp/arguments.ts";
import type { OpenApiDocument } from "../../src/http/openapi-settings.ts";
import { table } from "../../src/http/route.ts";
import { readText, readValue } from "../../src/http/scalar.ts";
import { toolSchemas } from "../../src/mcp/tool-schema.ts";
import type { Violation } from "../../src/call/errors.ts";
import { ajv, document } from "./document.ts";

const sessions = createArgumentReader(
  table.find(({ template, method }) => template === "/v1/sessions" && method === "GET")!,
);
const notes = createArgumentReader(table.find(({ template }) => template === "/v1/notes")!);
const contact = createArgumentReader(
  table.find(({ template, method }) => template === "/v1/contacts/{contact_id}" && method === "GET")!,
);

const uuid = "5f0c3a52-8a1e-4f1e-9a4f-0d7c6b1f2e31";

/** What is wrong with arguments, each as `field rule: message`. */
function faultsOf(read: typeof sessions, given: Record<string, unknown>): string[] {
  return read(given).violations.map(({ field, rule, message }) => `${field} ${rule}: ${message}`);
}

test("the input of a tool has the operation's parameters and the fields beyond REST, and no others", () => {
  const { input } = toolSchemas(document, "searchNotes");
  const limit = {
    type: "integer",
    minimum: 1,
    maximum: 25,
    default: 15,
    description: expect.any(String) as unknown,
  };
  expect(input).toMatchObject({
    type: "object",
    // It may be left out if there is a field that REST does not have.
    required: [],
    additionalProperties: false,
    properties: { query: { type: "string", minLength: 2, maxLength: 100 }, limit, offset: {}, contact_id: {} },
  });
  expect(toolSchemas(document, "checkHealth").input).toEqual({
    type: "object",
    properties: {},
    required: [],
    additionalProperties: false,
  });
});

test.each(["searchContacts", "getContact", "listSessions", "getSession", "getSessionTranscript", "searchNotes"])(
  "the schemas of %s are self-contained",
  (operation) => {
    const { input, output } = toolSchemas(document, operation);
    for (const schema of [input, output]) expect(ajv.compile(schema)).toBeTypeOf("function");
    expect(output.type).toBe("object");
    expect(JSON.stringify(output)).not.toContain("#/components/");
  },
);

test("has everything that a response refers to in place, and names and types alone", () => {
  const reference = (name: string): object => ({ $ref: `#/components/schemas/${name}` });
  const schemas = {
    Response: { type: "object", properties: { data: reference("Node") }, enum: [null, "x"] },
    Node: {
      type: "object",
      properties: {
        leaf: { anyOf: [reference("Leaf"), { type: "null" }], description: "A leaf." },
        either: { anyOf: [reference("Leaf"), { type: "integer", minimum: 1 }] },
      },
    },
    Leaf: { type: "string", format: "uuid" },
    Other: {},
  };
  const operation = (status: string, name: string): object => ({
    operationId: name,
    responses: { [status]: { content: { "application/json": { schema: reference(name) } } } },
  });
  const small = {
    ...document,
    components: { ...document.components, schemas },
    paths: {
      "/a": { get: operation("200", "Response"), post: operation("201", "Node") },
      "/b": { get: operation("200", "Leaf") },
    },
  } as unknown as OpenApiDocument;
  expect(toolSchemas(small, "Response")).toEqual({
    input: { type: "object", properties: {}, required: [], additionalProperties: false },
    output: {
      type: "object",
      properties: {
        data: {
          type: "object",
          properties: {
            leaf: { type: ["string", "null"] },
            either: { anyOf: [{ type: "string" }, { type: "integer" }] },
          },
        },
      },
    },
  });
  expect(toolSchemas(small, "Leaf").output).toEqual({ type: "object", properties: {} });
  for (const none of ["Node", "Nothing"])
    expect(() => toolSchemas(small, none)).toThrow(`the OpenAPI document has no operation ${none} with a response`);
});

test("accepts arguments of their types, and null as an omitted one", () => {
  expect(sessions({ query: "ann", limit: 5, contact_id: null })).toMatchObject({
    message: { query: "ann", limit: 5 },
    violations: [],
  });
  expect(sessions({ contact_id: null }).message).not.toHaveProperty("contactId");
  expect(contact({ contact_id: "7" })).toMatchObject({ message: { contactId: "7" }, violations: [] });
});

test("reports all violations of the arguments", () => {
  expect(faultsOf(sessions, { limit: "five", from: true, "": 1, nickname: 1, query: "\ud83d" })).toEqual([
    "limit type: must be a whole number",
    "from type: must be a string",
    '"" unknown_argument: must be left out: the arguments are query, contact_id, from, to, limit, offset, has_transcript, contact_name, any_word, order, has_notes',
    "nickname unknown_argument: must be left out: the arguments are query, contact_id, from, to, limit, offset, has_transcript, contact_name, any_word, order, has_notes",
    "query surrogate: must not contain a lone surrogate",
  ]);
  expect(faultsOf(sessions, { query: ["\ud83d"] })).toEqual(["query type: must be a string"]);
  expect(sessions({ limit: "five" }).message).not.toHaveProperty("limit");
  expect(sessions({ limit: "5", query: "" })).toMatchObject({ message: { limit: 5 }, violations: [] });
  expect(sessions({ query: "" }).message).not.toHaveProperty("query");
  expect(contact({ contact_id: `contact:${uuid}` }).message).toMatchObject({ contactId: uuid });
  expect(contact({ contact_id: `session:${uuid}` }).message).toMatchObject({ contactId: `session:${uuid}` });
  expect(contact({ contact_id: [5] }).message).toMatchObject({ contactId: "" });
  for (const missing of [{}, { query: null }, { query: undefined }])
    expect(faultsOf(notes, missing)).toContain("query required: is required");
  expect(faultsOf(contact, {})).toEqual(["contact_id required: is required"]);
});

test("names at most 50 unknown arguments and the number of the others, and all violations of known ones [ERR-03]", () => {
  const unknown = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`p${at}`, at]));
  const faults = faultsOf(notes, { ...unknown, limit: "many" });
  expect(faults).toHaveLength(52);
  expect(faults[48]).toMatch(/^p48 unknown_argument: .*[a-z_]$/);
  expect(faults[49]).toMatch(/^p49 unknown_argument: .* \(and 10 more\)$/);
  expect(faults.slice(50)).toEqual(["limit type: must be a whole number", "query required: is required"]);
});

test.each<[string, Record<string, unknown>, object]>([
  ["a whole number with zeros after the point", { limit: "10.0", offset: "-3.00" }, { limit: 10, offset: -3 }],
  ["false in a string", { any_word: "false" }, { anyWord: false }],
  ["a kind before another text", { contact_id: "contact:7" }, { contactId: "contact:7" }],
  ["another kind before an id", { contact_id: "contacts:7" }, { contactId: "contacts:7" }],
  ["a text that begins like a kind", { query: "query:7", contact_name: "contact_n:7" }, { query: "query:7" }],
])("reads %s as it is meant", (_, given, message) => {
  expect(sessions(given)).toMatchObject({ message, violations: [] });
});

test.each(["sessions", "NOTE_KIND_SESSION", "1", "__proto__"])("knows no enum name %j", (kind) => {
  expect(faultsOf(notes, { kind })).toEqual(["kind enum: must be one of contact, session"]);
});

test.each([
  ["limit", "10.0", "must be a whole number in digits, without a sign or leading zeros"],
  ["has_transcript", "True", "must be true or false"],
  ["has_transcript", "FALSE", "must be true or false"],
])("REST stays strict: its text %s=%s is rejected", (name, text, message) => {
  const routes = table.flatMap(({ query, beyond }) => [...query, ...(beyond?.fields ?? [])]);
  const field = routes.find((one) => one.name === name)!;
  const violations: Violation[] = [];
  expect(readText(field, text, violations)).toBeUndefined();
  expect(violations).toEqual([{ field: name, rule: "type", message }]);
  expect(readValue(field, text, [])).toBeUndefined();
});

test("REST stays strict: an enum name in another case is rejected", () => {
  const kind = table.flatMap(({ beyond }) => beyond?.fields ?? []).find(({ name }) => name === "kind")!;
  expect([readText(kind, "session", []), readValue(kind, "session", [])]).toEqual([2, 2]);
  expect([readText(kind, "SESSION", []), readValue(kind, "SESSION", [])]).toEqual([undefined, undefined]);
});

test.each([
  [{ limit: "10.5" }, "limit type: must be a whole number"],
  [{ limit: "10." }, "limit type: must be a whole number"],
  [{ limit: ".0" }, "limit type: must be a whole number"],
  [{ limit: "1e1" }, "limit type: must be a whole number"],
  [{ any_word: "T" }, "any_word type: must be true or false"],
  [{ limit: "1234567890123456" }, "limit type: must be a whole number"],
  [{ limit: "x5" }, "limit type: must be a whole number"],
  [{ limit: "5x" }, "limit type: must be a whole number"],
  [{ limit: "" }, undefined],
  [{ any_word: "yes" }, "any_word type: must be true or false"],
  [{ any_word: 1 }, "any_word type: must be true or false"],
])("guesses nothing from %j", (given, fault) => {
  expect(faultsOf(sessions, given)).toEqual(fault === undefined ? [] : [fault]);
});

test.each<[Record<string, unknown>, boolean]>([
  [{}, true],
  [{ limit: 5 }, true],
  [{ contact_id: null }, true],
  [{ contact_id: "" }, true],
  [{ contact_id: "7" }, false],
  [{ contact_id: "7", session_id: "" }, false],
  [{ query: "", contact_id: "7" }, false],
  [{ query: "" }, false],
])("with %j, a text to search for is required: %j", (given, required) => {
  expect(faultsOf(notes, given)).toEqual(required ? ["query required: is required"] : []);
});

test("only what may be left out when other fields are set is not required in the input", () => {
  expect(toolSchemas(document, "getContact").input.required).toEqual(["contact_id"]);
  expect(toolSchemas(document, "listSessions").input.required).toEqual([]);
});

test("has an enum where a response refers to it", () => {
  const schemas = {
    Response: {
      type: "object",
      properties: {
        kind: { $ref: "#/components/schemas/Kind", description: "which" },
        lost: { $ref: "#/components/schemas/Lost" },
      },
    },
    Kind: { type: "string", enum: ["a", "b"], description: "all kinds" },
  };
  const content = { "application/json": { schema: { $ref: "#/components/schemas/Response" } } };
  const small = {
    ...document,
    components: { ...document.components, schemas },
    paths: { "/a": { get: { operationId: "a", responses: { "200": { content } } } } },
  } as unknown as OpenApiDocument;
  expect(toolSchemas(small, "a").output).toEqual({
    type: "object",
    properties: { kind: { type: "string", enum: ["a", "b"] }, lost: {} },
  });
});
