// What a field of a response is in JSON; the writers and the OpenAPI schemas both go by it, so that they cannot differ.
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

/** The type of a field, and whether it is a list of it or may be null. */
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
 * What the field is in JSON. An `optional` scalar is nullable, and so is a message that is not marked as required; a
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

/** Whether a field in the message, at any depth, has the name of the document provider. */
export function namesProvider(message: DescMessage, options: Options, seen = new Set<DescMessage>()): boolean {
  if (seen.has(message)) return false;
  seen.add(message);
  return message.fields.some(
    (field) =>
      options.field(field)?.providerName === true ||
      (field.message !== undefined && namesProvider(field.message, options, seen)),
  );
}

/**
 * The messages that the responses hold, each once, a message before those that it holds. Throws an Error that names the
 * rpc for a field that cannot be written, and for two messages of one name. With `beyondRest` also those of fields that
 * REST does not have.
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
    for (const inner of type.message.fields) collect(inner);
  }
}
