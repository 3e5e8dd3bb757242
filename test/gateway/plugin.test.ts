// A proto that the gateway never saw goes all the way through it, and one that it cannot serve is rejected by name.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRequestReader } from "../../gateway/request.ts";
import type { Route } from "../../src/http/route.ts";
import { createRouter } from "../../gateway/router.ts";
import type { ProtoTree } from "./protos.ts";
import { copyProtos, tagsProto } from "./protos.ts";
import { share } from "../support/form.ts";

const path = "proto/records/v1/tags.proto";
let tree: ProtoTree;
let routes: readonly Route[];
let document: {
  paths: Record<string, Record<string, unknown>>;
  components: { schemas: Record<string, unknown>; securitySchemes: object };
};

beforeAll(async () => {
  tree = copyProtos();
  tree.write(path, tagsProto);
  tree.replace(
    "proto/records/v1/contacts.proto",
    "  optional string inferred_name = 11;",
    "  optional string inferred_name = 11;\n  // What friends say.\n  optional string nickname = 100;",
  );
  const { ok, output } = tree.generate();
  expect(output).toBe("");
  expect(ok).toBe(true);
  ({ routes } = (await import(join(tree.folder, "src/gen/rest.ts"))) as { routes: readonly Route[] });
  document = JSON.parse(readFileSync(join(tree.folder, "src/gen/openapi.json"), "utf8")) as typeof document;
});
afterAll(() => tree.remove());

function find(name: string): Route {
  const route = routes.find(({ rpc }) => rpc.name === name);
  if (route === undefined) throw new Error(`no route for ${name}`);
  return route;
}

test("routes a new rpc", () => {
  const match = createRouter(routes)("/v1/contacts/7/tags");
  expect(match).toMatchObject({ captured: ["7"], resource: { allow: "POST, DELETE, OPTIONS" } });
});

test("the row of a new rpc has what the handler needs", () => {
  expect(find("PutTag")).toMatchObject({
    method: "POST",
    status: 201,
    credential: "session",
    idempotencyKey: true,
    body: { required: true },
  });
  expect(find("ClearTags")).toMatchObject({
    method: "DELETE",
    status: 200,
    credential: "key",
    idempotencyKey: false,
    body: undefined,
  });
});

test("reads the request of a new rpc", () => {
  const properties = new Map<string, string | number | boolean>([
    ["name", "a"],
    ["colour", "dark_red"],
    ["pinned", true],
    ["rank", 3],
  ]);
  const put = createRequestReader(find("PutTag"))(["7"], "", { kind: "object", properties, flaws: [] });
  expect(put).toMatchObject({
    message: { contactId: "7", name: "a", colour: 1, pinned: true, rank: 3 },
    violations: [],
  });
  const clear = createRequestReader(find("ClearTags"))(["7"], "pinned_too=yes", undefined);
  expect(clear.violations).toEqual([{ field: "pinned_too", rule: "type", message: "must be true or false" }]);
});

test("writes the response of a new rpc, with its Location", () => {
  const route = find("PutTag");
  const owner = { id: "o1" };
  const tag = {
    name: "a",
    colour: 1,
    aliases: ["b"],
    seenAt: [{ seconds: 1n, nanos: 999_999_999 }],
    earlier: [2, 1],
    owner,
    parent: { name: "p", colour: 2, owner },
  };
  const message = create(route.rpc.output, { tag, total: 0 } as Record<string, unknown>);
  expect(JSON.stringify(route.write(message, "acme"))).toBe(
    '{"data":{"name":"a","colour":"dark_red","aliases":["b"],"seen_at":["1970-01-01T00:00:01.999Z"],"earlier":["blue","dark_red"],"owner":{"id":"o1"},"weight":null,"shade":null,' +
      '"parent":{"name":"p","colour":"blue","aliases":[],"seen_at":[],"earlier":[],"owner":{"id":"o1"},"weight":null,"shade":null,"parent":null,"acme_url":null},"acme_url":null},"total":0}',
  );
  expect(route.location?.(message)).toBe("/v1/contacts/o1/tags/a");
});

test("the whole response is data without response_body", () => {
  const route = find("ClearTags");
  expect(route.write(create(route.rpc.output, { count: 2 } as Record<string, unknown>), "acme")).toEqual({
    data: { count: 2, cleared_at: null },
  });
});

test("an enum value without a name is a failure, not a response", () => {
  const route = find("PutTag");
  const message = create(route.rpc.output, { tag: { colour: 0, owner: { id: "o1" } } } as Record<string, unknown>);
  expect(() => route.write(message, "acme")).toThrow("the name of the enum value 0");
});

test("OpenAPI has the new rpc, with the security scheme of its credential", () => {
  expect(document.paths["/v1/contacts/{contact_id}/tags"]).toMatchObject({
    post: {
      operationId: "putTag",
      tags: ["Tags"],
      summary: "Put a tag on a contact",
      description: "It stays until it is taken off.",
      security: [{ dashboardSession: [] }],
    },
    delete: {
      parameters: [
        { name: "contact_id", in: "path", required: true },
        { name: "pinned_too", in: "query", required: false, schema: { type: "boolean" } },
      ],
    },
  });
  expect(document.components.schemas["PutTagRequest"]).toEqual({
    type: "object",
    description: "The tag.",
    properties: {
      name: { type: "string", minLength: 1, maxLength: 20, description: "Its name." },
      colour: { anyOf: [{ $ref: "#/components/schemas/TagColour" }, { type: "null" }], description: "" },
      pinned: { type: "boolean", description: "" },
      rank: { type: ["integer", "null"], format: "int32", minimum: -2_147_483_648, maximum: 9, description: "" },
    },
    required: ["name"],
    additionalProperties: false,
  });
  expect(document.components.schemas["TagColour"]).toEqual({
    type: "string",
    enum: ["dark_red", "blue"],
    description: "",
  });
  expect(document.components.schemas).toHaveProperty("Tag_Owner");
  expect(Object.keys(document.components.securitySchemes)).toEqual(["apiKey", "dashboardSession"]);
});

test("writes a new field, and OpenAPI has it", () => {
  const route = find("GetContact");
  const at = { seconds: 1n, nanos: 0 };
  expect(
    route.write(
      create(route.rpc.output, { contact: { nickname: "Annie", createdAt: at, updatedAt: at } } as Record<
        string,
        unknown
      >),
      "acme",
    ),
  ).toMatchObject({ data: { nickname: "Annie" } });
  expect(document.components.schemas["Contact"]).toMatchObject({
    properties: { nickname: { type: ["string", "null"], description: "What friends say." } },
  });
});

const rejected: readonly (readonly [from: string, to: string, message: string])[] = [
  [
    'post: "/v1/contacts/{contact_id}/tags"',
    'post: "/v1/contacts/{contact_id}/tags/"',
    'PutTag: the path "/v1/contacts/{contact_id}/tags/" has a segment "" that is neither text nor {field}',
  ],
  [
    'post: "/v1/contacts/{contact_id}/tags"',
    'post: "/v1/contacts/{contact}/tags"',
    'PutTag: the path names "contact", which is not a field of records.v1.PutTagRequest',
  ],
  [
    'post: "/v1/contacts/{contact_id}/tags"',
    'post: "/v1/contacts/{name}/notes"',
    "PutTag: the route POST /v1/contacts/{}/notes is that of records.v1.ContactService.AppendContactNote already",
  ],
  ['post: "/v1/contacts/{contact_id}/tags"', 'get: "/v1/contacts/{contact_id}/tags"', "PutTag: GET cannot have a body"],
  ['body: "*"', 'body: "name"', 'PutTag: the body must be "*" or left out, not "name"'],
  ['body: "*"', 'body: "*" additional_bindings { get: "/v1/tags" }', "PutTag: additional_bindings are not supported"],
  [
    'response_body: "tag"',
    'response_body: "tags"',
    'PutTag: response_body names "tags", which is not a field of records.v1.PutTagResponse',
  ],
  ["{tag.name}", "{tag.title}", 'PutTag: the location names "title", which is not a field of records.v1.Tag'],
  [
    "(PutTagRequest) returns (PutTagResponse)",
    "(PutTagRequest) returns (stream PutTagResponse)",
    "PutTag: a streaming rpc cannot have a REST route",
  ],
  [
    "optional int32 rank = 5",
    "optional int64 rank = 5",
    "PutTag: the field rank of records.v1.PutTagRequest is of a kind that REST requests do not have",
  ],
  [
    "optional bool pinned = 4",
    "repeated string pinned = 4",
    "PutTag: the field pinned of records.v1.PutTagRequest is of a kind that REST requests do not have",
  ],
  ["optional bool pinned = 4", "bool pinned = 4", "PutTag: the field pinned must be either required or optional"],
  [
    "(buf.validate.field).string.max_len = 20",
    "(buf.validate.field).string.email = true",
    "PutTag: the rule email of the field name cannot be shown in OpenAPI",
  ],
  [
    "(buf.validate.field).string.max_len = 20",
    '(buf.validate.field).string.pattern = "^a$"',
    "PutTag: the pattern of the field name needs a pattern_message",
  ],
  [
    "repeated string aliases = 3",
    "map<string, string> aliases = 3",
    "PutTag: the field aliases of records.v1.Tag is of a kind that REST responses do not have",
  ],
  [
    "optional double weight = 7",
    "oneof size { double weight = 7; }",
    "PutTag: the field weight of records.v1.Tag is of a kind that REST responses do not have",
  ],
  [
    "int32 count = 1",
    "bytes count = 1",
    "ClearTags: the field count of records.v1.ClearTagsResponse is of a kind that REST responses do not have",
  ],
];

test.each(share(rejected, 5))("rejects %s → %s at generation", (from, to, message) => {
  tree.write(path, tagsProto.replace(from, to).replace(/int64 rank = 5 [^;]*/, "int64 rank = 5"));
  expect(() => tree.runPlugin()).toThrow(`records.v1.TagService.${message}`);
});

test("the plugin generates its four files for the unchanged proto", () => {
  tree.write(path, tagsProto);
  expect(tree.runPlugin()).toEqual(["rest.ts", "openapi.json", "openapi-yaml.json", "descriptors.json"]);
});
