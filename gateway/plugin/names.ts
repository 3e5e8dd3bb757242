// The names that REST and OpenAPI give to what protos define.
import type { DescEnum, DescMessage, DescMethod } from "@bufbuild/protobuf";

/** The name of a message or enum in OpenAPI and in generated code: without its package, nested ones joined by `_`. */
export function messageName(item: DescMessage | DescEnum): string {
  return item.typeName.slice(item.file.proto.package.length + 1).replaceAll(".", "_");
}

/**
 * The name in OpenAPI of what an operation returns: `UpdateContactResult`. Generators call a type of their own
 * `UpdateContactResponse`, after the operation.
 */
export function resultName({ output }: DescMethod): string {
  return messageName(output).replace(/Response$/, "Result");
}

/**
 * The strings of an enum's values by number: lower case, without the prefix with the enum's name (contract §2.1).
 */
export function enumNames(item: DescEnum): ReadonlyMap<number, string> {
  const prefix = item.sharedPrefix ?? "";
  return new Map(item.values.map(({ name, number }) => [number, name.toLowerCase().slice(prefix.length)]));
}
