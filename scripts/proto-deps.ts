// Copies the third-party protos that ours import from node_modules to third_party, so that our protos compile in a
// clone without npm.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DescEnum, DescExtension, DescField, DescFile, DescMessage } from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";
import { file_buf_validate_validate } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";

export const protoDeps = "third_party";

/** Writes them to this folder, replacing its contents. */
export function writeProtoDeps(out: string): void {
  rmSync(out, { recursive: true, force: true });
  const put = (to: string, text: string): void => {
    mkdirSync(dirname(join(out, to)), { recursive: true });
    writeFileSync(join(out, to), text);
  };
  const copy = (from: string, file: string, to = file): void =>
    put(to, readFileSync(join("node_modules", from, file), "utf8"));
  for (const file of ["google/api/annotations.proto", "google/api/http.proto", "google/rpc/error_details.proto"])
    copy("google-gax/build/protos", file);
  copy("grpc-health-check", "proto/health/v1/health.proto", "grpc/health/v1/health.proto");
  for (const version of ["v1", "v1alpha"])
    copy("@grpc/reflection/build/proto", `grpc/reflection/${version}/reflection.proto`);
  // No npm package contains this proto, but protovalidate contains its descriptor. Printing that keeps the two in sync.
  put("buf/validate/validate.proto", print(file_buf_validate_validate));
}

/** Prints a descriptor as proto source: messages, oneofs, enums and extensions, and the packages of other languages. */
function print(file: DescFile): string {
  const lines = ['syntax = "proto2";', `package ${file.proto.package};`];
  for (const dependency of file.dependencies) lines.push(`import "${dependency.proto.name}";`);
  const { goPackage, javaPackage, javaOuterClassname, javaMultipleFiles } = file.proto.options ?? {};
  lines.push(`option go_package = "${goPackage}";`, `option java_package = "${javaPackage}";`);
  lines.push(`option java_outer_classname = "${javaOuterClassname}";`);
  lines.push(`option java_multiple_files = ${javaMultipleFiles};`);
  for (const item of file.enums) lines.push(...printEnum(item));
  for (const item of file.messages) lines.push(...printMessage(item));
  for (const item of file.extensions) lines.push(`extend .${item.extendee.typeName} { ${printField(item)} }`);
  return `${lines.join("\n")}\n`;
}

function printMessage(message: DescMessage): string[] {
  const lines = [`message ${message.name} {`];
  for (const item of message.nestedEnums) lines.push(...printEnum(item));
  for (const item of message.nestedMessages) lines.push(...printMessage(item));
  for (const item of message.nestedExtensions) lines.push(`extend .${item.extendee.typeName} { ${printField(item)} }`);
  for (const member of message.members) {
    if (member.kind === "field") lines.push(printField(member));
    else lines.push(`oneof ${member.name} {`, ...member.fields.map((field) => printField(field, false)), "}");
  }
  for (const range of message.proto.extensionRange)
    lines.push(`extensions ${range.start} to ${range.end === 536870912 ? "max" : range.end - 1};`);
  return [...lines, "}"];
}

function printEnum(item: DescEnum): string[] {
  return [`enum ${item.name} {`, ...item.values.map((value) => `${value.name} = ${value.number};`), "}"];
}

function printField(field: DescField | DescExtension, label = true): string {
  const kind = field.fieldKind === "list" ? "repeated " : label && field.fieldKind !== "map" ? "optional " : "";
  return `${kind}${printType(field)} ${field.name} = ${field.number};`;
}

function printType(field: DescField | DescExtension): string {
  if (field.message !== undefined) return `.${field.message.typeName}`;
  if (field.enum !== undefined) return `.${field.enum.typeName}`;
  if (field.scalar !== undefined) return ScalarType[field.scalar].toLowerCase();
  throw new Error("a field of this kind cannot be printed");
}
