// Messages that no proto of ours has, with rules that no field of ours has yet.
import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import { create, createFileRegistry, setExtension } from "@bufbuild/protobuf";
import type { DescriptorProto, FieldDescriptorProto } from "@bufbuild/protobuf/wkt";
import {
  DescriptorProtoSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FieldDescriptorProtoSchema,
  FieldOptionsSchema,
  FileDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";
import { FieldRulesSchema, field as fieldRules } from "../../src/gen/buf/validate/validate_pb.ts";
import { FieldRulesSchema as FieldOptionSchema, field as fieldOption } from "../../src/gen/records/v1/options_pb.ts";

export type Rules = MessageInitShape<typeof FieldRulesSchema>;

/** What a field has beyond its name and rules. */
interface Shape {
  readonly type?: Type;
  /** The name of its message or enum, which is declared in the message. */
  readonly typeName?: string;
  readonly isList?: boolean;
  readonly oneofIndex?: number;
  /** Its options of `records.v1`. */
  readonly option?: MessageInitShape<typeof FieldOptionSchema>;
}

/** A field of this name with these rules, a text if the shape says nothing else. */
export function field(name: string, rules: Rules = {}, shape: Shape = {}): FieldDescriptorProto {
  const { option = {}, isList = false, ...rest } = shape;
  const options = create(FieldOptionsSchema);
  setExtension(options, fieldRules, create(FieldRulesSchema, rules));
  setExtension(options, fieldOption, create(FieldOptionSchema, option));
  const label = isList ? Label.REPEATED : Label.OPTIONAL;
  return create(FieldDescriptorProtoSchema, { name, jsonName: name, type: Type.STRING, label, options, ...rest });
}

/** A message of these fields, to be declared in another one. */
export function declared(
  name: string,
  fields: readonly FieldDescriptorProto[],
  rest: Omit<MessageInitShape<typeof DescriptorProtoSchema>, "$typeName"> = {},
): DescriptorProto {
  for (const [at, one] of fields.entries()) one.number = at + 1;
  return create(DescriptorProtoSchema, { ...rest, name, field: [...fields] });
}

let made = 0;

/** The message of these fields, and of what `rest` declares in it. */
export function messageOf(fields: readonly FieldDescriptorProto[], rest?: Parameters<typeof declared>[2]): DescMessage {
  made += 1;
  const name = `Made${made}`;
  for (const one of fields) if (one.typeName !== "") one.typeName = `.made.${name}.${one.typeName}`;
  const messageType = [declared(name, fields, rest)];
  const file = { name: `${name}.proto`, package: "made", syntax: "proto3", messageType };
  const registry = createFileRegistry(create(FileDescriptorProtoSchema, file), () => undefined);
  const found = registry.getMessage(`made.${name}`);
  if (found === undefined) throw new Error(`${name} was not made`);
  return found;
}
