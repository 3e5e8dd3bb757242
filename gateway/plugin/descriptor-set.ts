// The descriptor set from which clients in other languages are generated.
import type { DescFile } from "@bufbuild/protobuf";
import { create, toBinary } from "@bufbuild/protobuf";
import type { FileDescriptorProto, FileDescriptorSet } from "@bufbuild/protobuf/wkt";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema, SourceCodeInfoSchema } from "@bufbuild/protobuf/wkt";
import type { Operation } from "./operation.ts";

/** Files that only define options. A client would need a package for each, and uses none of them. */
const optionFiles = /^(?:buf\/validate\/validate|google\/api\/annotations|records\/v1\/options)\.proto$/;
/** Files that the public services do not import. Errors refer to them. */
const errorFiles = ["records/v1/errors.proto", "google/rpc/error_details.proto"];

/**
 * Returns the FileDescriptorSet of the rpcs for API keys, with our comments and with every import, imports first. No
 * file of options is imported. The options remain, as fields that a reader does not know.
 */
export function descriptorSet(operations: readonly Operation[], files: readonly DescFile[]): Uint8Array {
  const all = new Set<DescFile>();
  for (const { rpc, credential } of operations) if (credential !== "session") addWithImports(rpc.parent.file, all);
  for (const file of files) if (errorFiles.includes(file.proto.name)) addWithImports(file, all);
  const set: FileDescriptorSet = create(FileDescriptorSetSchema, { file: [...all].map(({ proto }) => reduced(proto)) });
  return toBinary(FileDescriptorSetSchema, set);
}

function addWithImports(file: DescFile, all: Set<DescFile>): void {
  if (all.has(file) || optionFiles.test(file.proto.name)) return;
  for (const imported of file.dependencies) addWithImports(imported, all);
  all.add(file);
}

function reduced(proto: FileDescriptorProto): FileDescriptorProto {
  const comments = proto.sourceCodeInfo?.location.filter(({ leadingComments }) => leadingComments !== "") ?? [];
  const location = proto.package.startsWith("records.") ? comments : [];
  return create(FileDescriptorProtoSchema, {
    ...proto,
    dependency: proto.dependency.filter((name) => !optionFiles.test(name)),
    sourceCodeInfo: create(SourceCodeInfoSchema, { location }),
  });
}
