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

test("as it is, it keeps all that was released [VER-02]", () => {
  expect(taken(released, now())).toEqual([]);
});

test("what is added takes nothing away [VER-02]", () => {
  tree.replace(
    contacts,
    "  optional string inferred_name = 11;",
    "  optional string inferred_name = 11;\n  // What friends say.\n  optional string nickname = 13;",
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
  [
    "a bound that was not there",
    request,
    '"maxLength":100',
    '"maxLength":100,"minLength":2',
    "MakeRequest.properties.name.minLength",
  ],
  [
    "a pattern that was not there",
    request,
    '"maxLength":100',
    '"maxLength":100,"pattern":"a"',
    "MakeRequest.properties.name.pattern",
  ],
  ["a property that must be sent now", request, '["name"]', '["name","mail"]', "MakeRequest.required.mail"],
  ["a property that is gone", request, '"name":{"type":"string","maxLength":100}', "", "MakeRequest.properties.name"],
  [
    "another schema",
    state,
    '{"$ref":"State"}',
    '{"anyOf":[{"$ref":"Other"},{"type":"null"}]}',
    "MakeRequest.properties.state.$ref",
  ],
  ["another type", request, '"type":"string"', '"type":"integer"', "MakeRequest.properties.name.type"],
  ["a response's property that may be left out now", response, '["id"]', "[]", "MakeResponse.required.id"],
  ["a value of a response that is gone", response, '["a","b"]', '["a"]', 'MakeResponse.properties.state.enum."b"'],
  ["a path that is gone", operation, "/v1/things", "/v1/others", "paths./v1/things"],
  ["a parameter that is gone", operation, '"name":"query"', '"name":"words"', "parameters.query query"],
  [
    "a parameter that must be sent now",
    operation,
    '"required":false',
    '"required":true',
    "parameters.query query.required",
  ],
  ["a status that is gone", operation, ',"404":{}', "", "responses.404"],
])("%s is reported [VER-02]", (_what, description, from, to, where) => {
  expect(taken(description, changed(description as object, from, to) as Description)).toEqual([
    expect.stringContaining(where),
  ]);
});

test.each<[string, Description, string, string]>([
  ["a bound that grows", request, '"maxLength":100', '"maxLength":200'],
  ["a bound that is gone", request, ',"maxLength":100', ""],
  ["a property that need not be sent any more", request, '["name"]', "[]"],
  ["a response's property that is always there now", response, '["id"]', '["id","state"]'],
  [
    "a null that is accepted beside a schema",
    state,
    '{"$ref":"State"}',
    '{"anyOf":[{"$ref":"State"},{"type":"null"}]}',
  ],
  ["another order", response, '["a","b"]', '["b","a"]'],
  ["a status more", operation, '"404":{}', '"404":{},"409":{}'],
])("%s is not [VER-02]", (_what, description, from, to) => {
  expect(taken(description, changed(description as object, from, to) as Description)).toEqual([]);
});
