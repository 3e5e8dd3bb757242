// The published description: what was released of it is still there, and no stricter (spec Versioning 2 and 3).
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { create, fromBinary } from "@bufbuild/protobuf";
import { CodeGeneratorRequestSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { plugin } from "../../gateway/plugin/plugin.ts";
import { taken } from "./additive.ts";
import type { ProtoTree } from "./protos.ts";
import { copyProtos } from "./protos.ts";

type Description = Parameters<typeof taken>[0];

const root = join(import.meta.dirname, "../..");
const contacts = "proto/records/v1/contacts.proto";
const asItIs = readFileSync(join(root, contacts), "utf8");
let tree: ProtoTree;
let released: Description;

beforeAll(() => {
  tree = copyProtos();
  released = describedBy(readFileSync(join(root, "proto/records.v1.binpb")));
});
beforeEach(() => tree.write(contacts, asItIs));
afterAll(() => tree.remove());

/** The OpenAPI document that the plugin makes of an image. */
function describedBy(image: Uint8Array): Description {
  const { file: protoFile } = fromBinary(FileDescriptorSetSchema, image);
  const fileToGenerate = protoFile.map(({ name }) => name).filter((name) => name.startsWith("records/"));
  const made = plugin.run(
    create(CodeGeneratorRequestSchema, { parameter: "target=ts", protoFile, fileToGenerate }),
  ).file;
  return JSON.parse(made.find(({ name }) => name.endsWith("openapi.json"))?.content ?? "") as Description;
}

function now(): Description {
  const image = join(tree.folder, "image.binpb");
  expect(tree.buf("build", "--as-file-descriptor-set", "--output", image)).toEqual({ ok: true, output: "" });
  return describedBy(readFileSync(image));
}

test("the check accepts an unchanged document [VER-02]", () => {
  expect(taken(released, now())).toEqual([]);
});

test("the check accepts additions [VER-02]", () => {
  tree.replace(
    contacts,
    "  optional string inferred_name = 11;",
    "  optional string inferred_name = 11;\n  // What friends say.\n  optional string nickname = 99;",
  );
  expect(taken(released, now())).toEqual([]);
});

const request = {
  components: {
    schemas: {
      MakeRequest: { type: "object", properties: { name: { type: "string", maxLength: 100 } }, required: ["name"] },
    },
  },
};
const state = {
  components: { schemas: { MakeRequest: { type: "object", properties: { state: { $ref: "State" } } } } },
};
const response = {
  components: {
    schemas: {
      MakeResponse: {
        type: "object",
        properties: { id: { type: "string" }, state: { enum: ["a", "b"] } },
        required: ["id"],
      },
    },
  },
};
const operation = {
  paths: {
    "/v1/things": {
      get: {
        parameters: [{ name: "query", in: "query", required: false, schema: { type: "string" } }],
        responses: { "200": {}, "404": {} },
      },
    },
  },
};

/** A copy with one text of its JSON replaced. */
function changed<T extends object>(description: T, from: string, to: string): T {
  const text = JSON.stringify(description);
  expect(text).toContain(from);
  return JSON.parse(text.replace(from, to)) as T;
}

test.each<[string, Description, string, string, string]>([
  ["a bound that shrinks", request, '"maxLength":100', '"maxLength":99', "MakeRequest.properties.name.maxLength"],
  ["a new bound", request, '"maxLength":100', '"maxLength":100,"minLength":2', "MakeRequest.properties.name.minLength"],
  ["a new pattern", request, '"maxLength":100', '"maxLength":100,"pattern":"a"', "MakeRequest.properties.name.pattern"],
  ["a property that becomes required", request, '["name"]', '["name","mail"]', "MakeRequest.required.mail"],
  ["a removed property", request, '"name":{"type":"string","maxLength":100}', "", "MakeRequest.properties.name"],
  [
    "another schema",
    state,
    '{"$ref":"State"}',
    '{"anyOf":[{"$ref":"Other"},{"type":"null"}]}',
    "MakeRequest.properties.state.$ref",
  ],
  ["another type", request, '"type":"string"', '"type":"integer"', "MakeRequest.properties.name.type"],
  ["a property of a response that becomes optional", response, '["id"]', "[]", "MakeResponse.required.id"],
  ["a removed value of a response", response, '["a","b"]', '["a"]', 'MakeResponse.properties.state.enum."b"'],
  ["a removed path", operation, "/v1/things", "/v1/others", "paths./v1/things"],
  ["a removed parameter", operation, '"name":"query"', '"name":"words"', "parameters.query query"],
  [
    "a parameter that becomes required",
    operation,
    '"required":false',
    '"required":true',
    "parameters.query query.required",
  ],
  ["a removed status", operation, ',"404":{}', "", "responses.404"],
])("reports %s [VER-02]", (_what, description, from, to, where) => {
  expect(taken(description, changed(description as object, from, to) as Description)).toEqual([
    expect.stringContaining(where),
  ]);
});

test.each<[string, Description, string, string]>([
  ["a bound that grows", request, '"maxLength":100', '"maxLength":200'],
  ["a removed bound", request, ',"maxLength":100', ""],
  ["a property that becomes optional", request, '["name"]', "[]"],
  ["a property of a response that becomes required", response, '["id"]', '["id","state"]'],
  [
    "a null that is accepted in addition to a schema",
    state,
    '{"$ref":"State"}',
    '{"anyOf":[{"$ref":"State"},{"type":"null"}]}',
  ],
  ["another order", response, '["a","b"]', '["b","a"]'],
  ["an additional status", operation, '"404":{}', '"404":{},"409":{}'],
])("accepts %s [VER-02]", (_what, description, from, to) => {
  expect(taken(description, changed(description as object, from, to) as Description)).toEqual([]);
});
