// What was released of the protos and of their published description stays, and gets no stricter (spec Versioning 2, 3).
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { create, fromBinary } from "@bufbuild/protobuf";
import { CodeGeneratorRequestSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { plugin } from "../../gateway/plugin/plugin.ts";
import { taken } from "./additive.ts";

type Description = Parameters<typeof taken>[0];

const root = join(import.meta.dirname, "../..");
const released = join(root, "proto/records.v1.binpb");

test("the protos break nothing that was released [VER-02]", () => {
  const buf = join(root, "node_modules/.bin/buf");
  const { status, stdout, stderr } = spawnSync(buf, ["breaking", "proto", "--against", released], { cwd: root });
  expect([status, `${stdout}${stderr}`]).toEqual([0, ""]);
});

/** The OpenAPI document that the plugin makes of the released protos. */
function describeReleased(): Description {
  const { file: protoFile } = fromBinary(FileDescriptorSetSchema, readFileSync(released));
  const fileToGenerate = protoFile.map(({ name }) => name).filter((name) => name.startsWith("records/"));
  const made = plugin.run(
    create(CodeGeneratorRequestSchema, { parameter: "target=ts", protoFile, fileToGenerate }),
  ).file;
  return JSON.parse(made.find(({ name }) => name.endsWith("openapi.json"))?.content ?? "") as Description;
}

test("the OpenAPI document takes nothing away and requires nothing more than was released [VER-02]", () => {
  const present = JSON.parse(readFileSync(join(root, "src/gen/openapi.json"), "utf8")) as Description;
  expect(taken(describeReleased(), present)).toEqual([]);
});
