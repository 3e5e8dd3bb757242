// The names of proto definitions in REST and OpenAPI.
import type { DescEnum, DescMessage, DescMethod } from "@bufbuild/protobuf";

/**
 * Returns the name of a message or enum in OpenAPI and in generated code. It lacks the package, and `_` joins nested
 * names.
 */
export function messageName(item: DescMessage | DescEnum): string {
  return item.typeName.slice(item.file.proto.package.length + 1).replaceAll(".", "_");
}

/**
 * Returns the OpenAPI name of an operation's response body, such as `UpdateContactResult`. Generators need
 * `UpdateContactResponse` for a type of their own, which is named after the operation.
 */
export function resultName({ output }: DescMethod): string {
  return messageName(output).replace(/Response$/, "Result");
}

/**
 * Returns the strings of an enum's values by number: lower case, without the prefix of the enum's name (contract §2.1).
 */
export function enumNames(item: DescEnum): ReadonlyMap<number, string> {
  const prefix = item.sharedPrefix ?? "";
  return new Map(item.values.map(({ name, number }) => [number, name.toLowerCase().slice(prefix.length)]));
}
