// What was released of the protos and of their published description stays, and gets no stricter (spec Versioning 2, 3).
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { create, fromBinary } from "@bufbuild/protobuf";
import { CodeGeneratorRequestSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, expect, test } from "vitest";
import { plugin } from "../../gateway/plugin/plugin.ts";
import { taken } from "./additive.ts";
import type { ProtoTree } from "./protos.ts";
import { copyProtos } from "./protos.ts";

type Description = Parameters<typeof taken>[0];

const released = join(import.meta.dirname, "../../proto/records.v1.binpb");
let tree: ProtoTree;

beforeAll(() => void (tree = copyProtos()));
afterAll(() => tree.remove());

test("the protos break nothing that was released [VER-02]", () => {
  expect(tree.buf("breaking", "proto", "--against", released)).toEqual({ ok: true, output: "" });
});

/** The OpenAPI document that the plugin makes of an image. */
function describedBy(path: string): Description {
  const { file: protoFile } = fromBinary(FileDescriptorSetSchema, readFileSync(path));
  const fileToGenerate = protoFile.map(({ name }) => name).filter((name) => name.startsWith("records/"));
  const made = plugin.run(
    create(CodeGeneratorRequestSchema, { parameter: "target=ts", protoFile, fileToGenerate }),
  ).file;
  return JSON.parse(made.find(({ name }) => name.endsWith("openapi.json"))?.content ?? "") as Description;
}

test("the OpenAPI document takes nothing away and requires nothing more than was released [VER-02]", () => {
  const image = join(tree.folder, "image.binpb");
  expect(tree.buf("build", "--as-file-descriptor-set", "--output", image)).toEqual({ ok: true, output: "" });
  expect(taken(describedBy(released), describedBy(image))).toEqual([]);
});
