// Completes the update mask of a PATCH over RPC, and rejects invalid masks (contract §2.7; AIP-134).
import type { DescMessage, Message } from "@bufbuild/protobuf";
import { create, getOption } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import type { FieldMask } from "@bufbuild/protobuf/wkt";
import { FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { field as fieldOption } from "../gen/records/v1/options_pb.ts";
import type { Violation } from "../call/errors.ts";
import { sanitizeForEcho } from "../text/text.ts";
import { perMessage } from "./per-message.ts";

/** The path that means every field (AIP-134). */
const everything = "*";
/** The maximum length of a path in a violation's message, in UTF-16 units. */
const maxPathLength = 64;
/** The maximum number of paths. A mask of 256 KiB can have 130,000, each of which would be looked up and reported. */
export const maxPaths = 100;

/**
 * Completes the message's field mask, if it has one. An unset or empty mask becomes the fields that are set, and `*`
 * becomes every field. Clears the fields that are not in the mask. Returns violations for an empty update, a mask that
 * is too long, the first path of no updatable field, and fields that cannot be cleared. Clears a rejected mask, so that
 * nothing reads its paths again.
 */
export function completeMask(schema: DescMessage, message: Message): Violation[] {
  const { maskField, updatable, updatableNames } = masked(schema);
  if (maskField === undefined) return [];
  const fields = reflect(schema, message);
  const rejected = (message: string): Violation => {
    fields.clear(maskField);
    return { field: maskField.name, rule: "update_mask", message };
  };
  const given = (message as Message & Record<string, FieldMask | undefined>)[maskField.localName]?.paths ?? [];
  if (given.length > maxPaths) return [rejected(`must have at most ${maxPaths} paths`)];
  const names = updatableNames.join(", ");
  const implied = updatable.filter((field) => fields.isSet(field)).map(({ name }) => name);
  const named = new Set(given.flatMap((path) => (path === everything ? updatableNames : [path])));
  const paths = named.size === 0 ? implied : [...named];
  if (paths.length === 0) return [rejected(`the update must change at least one of ${names}`)];
  for (const field of updatable) if (!paths.includes(field.name)) fields.clear(field);
  fields.set(maskField, reflect(FieldMaskSchema, create(FieldMaskSchema, { paths })));
  const firstWrong = paths.find((path) => !updatableNames.includes(path));
  return paths.flatMap((path): Violation[] => {
    if (path === firstWrong) return [rejected(`"${sanitizeForEcho(path, maxPathLength)}" is not one of ${names}`)];
    const field = updatable.find(({ name }) => name === path);
    if (field === undefined || fields.isSet(field) || !getOption(field, fieldOption).notNull) return [];
    return [{ field: path, rule: "not_null", message: "cannot be cleared" }];
  });
}

/** The field mask of a message, if any, and the fields that it can name. */
const masked = perMessage((schema) => {
  const updatable = schema.fields.filter((field) => field.proto.proto3Optional);
  return {
    maskField: schema.fields.find((field) => field.message?.typeName === FieldMaskSchema.typeName),
    updatable,
    updatableNames: updatable.map(({ name }) => name),
  };
});
