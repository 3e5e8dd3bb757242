// The fields of a request that name a record by its id, by reflection, and requests that have a value there.
import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { ScalarType, getOption } from "@bufbuild/protobuf";
import type { Fields } from "../fixtures/clients/wires.ts";
import type { FieldRules } from "../../src/gen/buf/validate/validate_pb.ts";
import { field as fieldRules } from "../../src/gen/buf/validate/validate_pb.ts";

/** A field, and the fields that lead to it from the request; it is the last. */
export interface IdField {
  /** `SearchNotesRequest.session_id` */
  readonly name: string;
  readonly way: readonly DescField[];
}

/** Every field of a message, and of the messages within it, that has an id. */
export function idFieldsOf(message: DescMessage, way: readonly DescField[] = []): IdField[] {
  return message.fields.flatMap((field): IdField[] => {
    const here = [...way, field];
    if (isId(field)) return [{ name: `${message.name}.${field.name}`, way: here }];
    const isWithin = way.some(({ parent }) => parent === field.message);
    return field.message?.typeName.startsWith("records.") === true && !isWithin ? idFieldsOf(field.message, here) : [];
  });
}

/**
 * Whether the rules say that a field, or each of its items, is a UUID. A batch whose items are rejected one by one has
 * no such rule: there the name shows it.
 */
function isId(field: DescField): boolean {
  const { type } = getOption(field, fieldRules);
  if (isUuid(type) || (type.case === "repeated" && type.value.items !== undefined && isUuid(type.value.items.type)))
    return true;
  return field.message === undefined && /(?:^|(?<!external|import)_)ids?$/.test(field.name);
}

function isUuid(type: FieldRules["type"]): boolean {
  return type.case === "string" && type.value.wellKnown.case === "uuid" && type.value.wellKnown.value;
}

/** Valid messages by their types: what a request must have around an id. */
export type Samples = ReadonlyMap<string, Fields>;

export function samplesOf(requests: readonly (readonly [DescMessage, Fields])[]): Samples {
  const samples = new Map<string, Fields>();
  const collect = (message: DescMessage, value: Fields): void => {
    for (const field of message.fields) {
      const within = first(value[field.name]);
      if (field.message === undefined || typeof within !== "object" || within === null) continue;
      samples.set(field.message.typeName, within as Fields);
      collect(field.message, within as Fields);
    }
  };
  for (const [message, request] of requests) collect(message, request);
  return samples;
}

export function withId(request: Fields, way: readonly DescField[], id: string, samples: Samples): Fields {
  const [field, ...rest] = way;
  if (field === undefined) return request;
  // Only one field of a oneof is set.
  const others = field.oneof?.fields.map(({ name }) => name) ?? [];
  const kept = Object.fromEntries(Object.entries(request).filter(([name]) => !others.includes(name)));
  const around = (first(kept[field.name]) ?? samples.get(field.message?.typeName ?? "") ?? {}) as Fields;
  const value = rest.length === 0 ? id : withId(around, rest, id, samples);
  return { ...kept, [field.name]: field.fieldKind === "list" ? [value] : value };
}

/**
 * A request as it is and without the other ids at its top, which may exclude each other; of each also one for every
 * choice at its top: another choice may be another query.
 */
export function variantsOf(request: Fields, message: DescMessage, way: readonly DescField[]): Fields[] {
  const alone = withoutOtherIds(request, message, way);
  const isSame = Object.keys(alone).length === Object.keys(request).length;
  const choices = message.fields.flatMap((field): Fields[] => {
    // A value may have a short name as well, which the gateway adds.
    if (field.fieldKind === "enum")
      return field.enum.values
        .filter(({ number }, at, all) => number !== 0 && all.findIndex((one) => one.number === number) === at)
        .map(({ name }) => ({ [field.name]: name }));
    return field.fieldKind === "scalar" && field.scalar === ScalarType.BOOL ? [{ [field.name]: true }] : [];
  });
  return (isSame ? [alone] : [alone, request]).flatMap((one) => [
    one,
    ...choices.map((choice) => ({ ...one, ...choice })),
  ]);
}

function withoutOtherIds(request: Fields, message: DescMessage, way: readonly DescField[]): Fields {
  const others = new Set(message.fields.filter((field) => isId(field) && field !== way[0]).map(({ name }) => name));
  return Object.fromEntries(Object.entries(request).filter(([name]) => !others.has(name)));
}

function first(value: unknown): unknown {
  return Array.isArray(value) ? (value as unknown[])[0] : value;
}
