// The JSON type of a response field, which the writers and the OpenAPI schemas share so that they cannot differ.
import type { DescEnum, DescField, DescMessage } from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { messageName } from "./names.ts";
import type { Operation } from "./operation.ts";
import { naming } from "./operation.ts";
import type { Options } from "./options.ts";

/** The type of a value in a response. */
export type ResponseType =
  | { readonly kind: "string" | "boolean" | "integer" | "number" | "timestamp" }
  | { readonly kind: "enum"; readonly enum: DescEnum }
  | { readonly kind: "message"; readonly message: DescMessage };

/** The type of a field, and whether the field is a list or may be null. */
export interface ResponseField {
  readonly type: ResponseType;
  readonly repeated: boolean;
  readonly nullable: boolean;
}

const scalars: Partial<Record<ScalarType, "string" | "boolean" | "integer" | "number">> = {
  [ScalarType.STRING]: "string",
  [ScalarType.BOOL]: "boolean",
  [ScalarType.INT32]: "integer",
  [ScalarType.DOUBLE]: "number",
};

/**
 * Returns the JSON type of a field. An `optional` scalar or a message is nullable unless it is marked as required. A
 * list never is (contract §2.1). Throws an Error for a field of another kind.
 */
export function responseField(field: DescField, options: Options): ResponseField {
  const { required } = options.validate(field);
  const nullable = field.message === undefined ? field.presence === explicitPresence && !required : !required;
  return {
    type: responseType(field),
    repeated: field.fieldKind === "list",
    nullable: nullable && field.fieldKind !== "list",
  };
}

/** FeatureSet.FieldPresence.EXPLICIT */
const explicitPresence = 1;

function responseType(field: DescField): ResponseType {
  const { message, enum: values, scalar } = field;
  if (field.fieldKind !== "map" && field.oneof === undefined) {
    if (message?.typeName === TimestampSchema.typeName) return { kind: "timestamp" };
    if (message !== undefined && !message.file.proto.package.startsWith("google.")) return { kind: "message", message };
    if (values !== undefined) return { kind: "enum", enum: values };
    const kind = scalar === undefined ? undefined : scalars[scalar];
    if (kind !== undefined) return { kind };
  }
  throw new Error(`the field ${field.name} of ${field.parent.typeName} is of a kind that REST responses do not have`);
}

/** Whether the name of a field in the message, at any depth, contains the document provider's. */
export function namesProvider(message: DescMessage, options: Options, seen = new Set<DescMessage>()): boolean {
  if (seen.has(message)) return false;
  seen.add(message);
  return restFields(message, options).some(
    (field) =>
      options.field(field)?.providerName === true ||
      (field.message !== undefined && namesProvider(field.message, options, seen)),
  );
}

/** Returns the fields of a message that REST has. */
export function restFields(message: DescMessage, options: Options): readonly DescField[] {
  return message.fields.filter((field) => options.field(field)?.beyondRest !== true);
}

/**
 * Returns the messages in the responses, each once, and before the messages that it contains. Throws an Error that
 * names the rpc if a field cannot be written or two messages have one name. With `beyondRest`, includes the messages of
 * fields that REST does not have.
 */
export function responseMessages(
  operations: readonly Operation[],
  options: Options,
  beyondRest = false,
): readonly DescMessage[] {
  const found = new Map<string, DescMessage>();
  for (const { rpc, beyond } of operations)
    naming(rpc, () => rpc.output.fields.filter((field) => !beyond.response.includes(field)).forEach(collect));
  if (beyondRest) for (const { rpc, beyond } of operations) naming(rpc, () => beyond.response.forEach(collect));
  return [...found.values()];

  function collect(field: DescField): void {
    const { type } = responseField(field, options);
    if (type.kind !== "message") return;
    const other = found.get(messageName(type.message));
    if (other?.typeName === type.message.typeName) return;
    if (other !== undefined)
      throw new Error(`${other.typeName} and ${type.message.typeName} would have one name in OpenAPI`);
    found.set(messageName(type.message), type.message);
    for (const inner of restFields(type.message, options)) collect(inner);
  }
}
