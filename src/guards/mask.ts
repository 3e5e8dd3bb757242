// Completes the update mask of a PATCH over RPC, and rejects invalid masks (contract §2.7; AIP-134).
import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import { create, getOption } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import type { FieldMask } from "@bufbuild/protobuf/wkt";
import { FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { field as fieldOption } from "../gen/records/v1/options_pb.ts";
import type { Violation } from "../errors.ts";
import { sanitizeForEcho } from "../text.ts";

/** The path that means every field (AIP-134). */
const everything = "*";
/** The maximum length of a path in a violation's message, in UTF-16 units. */
const maxPathLength = 64;

/**
 * Completes the message's field mask, if it has one. An unset or empty mask becomes the fields that are set, and `*`
 * becomes every field. Clears the fields that are not in the mask. Returns violations for an empty update, paths of no
 * updatable field, and fields that cannot be cleared.
 */
export function completeMask(schema: DescMessage, message: Message): Violation[] {
  const maskField = schema.fields.find((field) => field.message?.typeName === FieldMaskSchema.typeName);
  if (maskField === undefined) return [];
  const violation = (message: string): Violation => ({ field: maskField.name, rule: "update_mask", message });
  const fields = reflect(schema, message);
  const updatable = schema.fields.filter((field) => field.proto.proto3Optional);
  const given = (message as Message & Record<string, FieldMask | undefined>)[maskField.localName];
  const implied = updatable.filter((field) => fields.isSet(field)).map(({ name }) => name);
  const named =
    given?.paths.flatMap((path) => (path === everything ? updatable.map(({ name }) => name) : [path])) ?? [];
  const paths = named.length === 0 ? implied : [...new Set(named)];
  const names = updatable.map(({ name }) => name).join(", ");
  if (paths.length === 0) return [violation(`the update must change at least one of ${names}`)];
  for (const field of updatable) if (!paths.includes(field.name)) fields.clear(field);
  fields.set(maskField, reflect(FieldMaskSchema, create(FieldMaskSchema, { paths })));
  return paths.flatMap((path) =>
    pathViolations(
      path,
      updatable.find(({ name }) => name === path),
    ),
  );

  function pathViolations(path: string, field: DescField | undefined): Violation[] {
    if (field === undefined) return [violation(`"${sanitizeForEcho(path, maxPathLength)}" is not one of ${names}`)];
    if (fields.isSet(field) || !getOption(field, fieldOption).notNull) return [];
    return [{ field: path, rule: "not_null", message: "cannot be cleared" }];
  }
}
