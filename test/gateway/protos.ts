// A copy of the protos that a test can add to or break, and what buf and the plugin make of it.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { create, fromBinary } from "@bufbuild/protobuf";
import { CodeGeneratorRequestSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { plugin } from "../../gateway/plugin/plugin.ts";

const root = join(import.meta.dirname, "../..");

/** A folder with the protos in it. */
export interface ProtoTree {
  readonly folder: string;
  /** Puts a file into it, or in place of the one that is there. */
  write(path: string, text: string): void;
  /** Replaces the text in a file, where it must be. */
  replace(path: string, from: string, to: string): void;
  buf(...args: string[]): { readonly ok: boolean; readonly output: string };
  /** Generates into its own `src/gen` as `npm run generate` does. */
  generate(): { readonly ok: boolean; readonly output: string };
  /** Runs the plugin in this process: the names of what it makes. Throws what it throws. */
  runPlugin(): string[];
  remove(): void;
}

/** Copies the protos as they are. */
export function copyProtos(): ProtoTree {
  const folder = mkdtempSync(join(tmpdir(), "records-protos-"));
  for (const path of ["proto", "third_party", "buf.yaml"])
    cpSync(join(root, path), join(folder, path), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const run = (cwd: string, args: readonly string[]): { ok: boolean; output: string } => {
    const env = { ...process.env, PATH: [join(root, "node_modules/.bin"), process.env["PATH"]].join(delimiter) };
    const { status, stdout, stderr } = spawnSync("buf", args, { cwd, env, encoding: "utf8" });
    return { ok: status === 0, output: stdout + stderr };
  };
  return {
    folder,
    write(path, text) {
      mkdirSync(join(folder, path, ".."), { recursive: true });
      writeFileSync(join(folder, path), text);
    },
    replace(path, from, to) {
      const text = readFileSync(join(folder, path), "utf8");
      if (!text.includes(from)) throw new Error(`${path} does not hold ${from}`);
      writeFileSync(join(folder, path), text.replace(from, to));
    },
    buf: (...args) => run(folder, args),
    generate: () => run(root, ["generate", folder, "--template", "buf.gen.yaml", "--output", folder]),
    runPlugin() {
      const image = join(folder, "image.binpb");
      const built = run(folder, ["build", "--as-file-descriptor-set", "--output", image]);
      if (!built.ok) throw new Error(`buf build: ${built.output}`);
      const { file: protoFile } = fromBinary(FileDescriptorSetSchema, readFileSync(image));
      const fileToGenerate = protoFile.map(({ name }) => name).filter((name) => name.startsWith("records/"));
      return plugin
        .run(create(CodeGeneratorRequestSchema, { parameter: "target=ts", protoFile, fileToGenerate }))
        .file.map(({ name }) => name);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A service that no part of the gateway knows of, with every kind of field that it takes. */
export const tagsProto = `syntax = "proto3";
package records.v1;
import "google/api/annotations.proto";
import "buf/validate/validate.proto";
import "google/protobuf/timestamp.proto";
import "records/v1/options.proto";
// Tags of contacts.
service TagService {
  // Put a tag on a contact.
  //
  // It stays until it is taken off.
  rpc PutTag(PutTagRequest) returns (PutTagResponse) {
    option (google.api.http) = {
      post: "/v1/contacts/{contact_id}/tags"
      body: "*"
      response_body: "tag"
    };
    option (records.v1.method) = {
      credential: CREDENTIAL_SESSION
      idempotency_key: true
      success_status: 201
      location: "/v1/contacts/{tag.owner.id}/tags/{tag.name}"
      errors: [REASON_RATE_LIMITED, REASON_DUPLICATE_EMAIL, REASON_CONTACT_ARCHIVED]
    };
  }
  // Take all tags off.
  rpc ClearTags(ClearTagsRequest) returns (ClearTagsResponse) {
    option (google.api.http) = { delete: "/v1/contacts/{contact_id}/tags" };
  }
}
// The tag.
message PutTagRequest {
  string contact_id = 1 [(buf.validate.field).required = true, (buf.validate.field).string.uuid = true];
  // Its name.
  string name = 2 [(buf.validate.field).required = true, (buf.validate.field).string.max_len = 20];
  optional TagColour colour = 3;
  optional bool pinned = 4 [(records.v1.field).not_null = true];
  optional int32 rank = 5 [(buf.validate.field).int32.lte = 9];
}
message PutTagResponse {
  Tag tag = 1 [(buf.validate.field).required = true];
  optional int32 total = 2;
}
message ClearTagsRequest {
  string contact_id = 1 [(buf.validate.field).required = true];
  optional bool pinned_too = 2;
}
message ClearTagsResponse {
  int32 count = 1;
  google.protobuf.Timestamp cleared_at = 2;
}
// A tag.
message Tag {
  message Owner { string id = 1 [(buf.validate.field).string.uuid = true]; }
  string name = 1;
  TagColour colour = 2;
  repeated string aliases = 3;
  repeated google.protobuf.Timestamp seen_at = 4;
  repeated TagColour earlier = 5;
  Owner owner = 6 [(buf.validate.field).required = true];
  optional double weight = 7;
  optional TagColour shade = 8;
  Tag parent = 9;
  optional string provider_url = 10 [(records.v1.field).provider_name = true];
}
enum TagColour {
  TAG_COLOUR_UNSPECIFIED = 0;
  TAG_COLOUR_DARK_RED = 1;
  TAG_COLOUR_BLUE = 2;
}
`;
