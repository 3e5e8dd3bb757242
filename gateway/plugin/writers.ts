// Emits the JSON writers: plain functions that the compiler checks against the messages of protoc-gen-es.
import type { DescEnum, DescField, DescMessage } from "@bufbuild/protobuf";
import type { GeneratedFile, Printable } from "@bufbuild/protoplugin";
import { enumNames, messageName } from "./names.ts";
import type { Operation } from "./operation.ts";
import type { Options } from "./options.ts";
import type { ResponseType } from "./response-field.ts";
import { namesProvider, responseField, responseMessages, restFields } from "./response-field.ts";

/** Emits a writer for each message of the responses, and the helpers of the writers. */
export function printWriters(f: GeneratedFile, operations: readonly Operation[], options: Options): void {
  const messages = responseMessages(operations, options, true);
  for (const message of messages) {
    f.print("function write", messageName(message), "(m: ", f.importShape(message), parameter(message, options), ") {");
    f.print("  return {");
    for (const field of restFields(message, options)) f.print("    ", property(field, options), ",");
    f.print("  };");
    f.print("}");
    f.print();
  }
  for (const item of enumsOf([...messages, ...operations.map(({ rpc }) => rpc.output)])) {
    const entries = [...enumNames(item)]
      .filter(([number]) => number !== 0)
      .map(([number, name]) => `${number}: "${name}"`);
    f.print("const ", namesConstant(item), ": Names = { ", entries.join(", "), " };");
    f.print();
  }
  f.print(helpers);
}

/** Returns the function that writes the body of a success: `data`, and the other fields of the response next to it. */
export function bodyWriter(f: GeneratedFile, { rpc, data, siblings }: Operation, options: Options): Printable {
  const whole =
    data === undefined
      ? `{ ${rpc.output.fields.map((field) => property(field, options)).join(", ")} }`
      : value(data, options);
  const members = [`data: ${whole}`, ...siblings.map((field) => property(field, options))];
  return ["(m: ", f.importShape(rpc.output), parameter(rpc.output, options), `) => ({ ${members.join(", ")} })`];
}

/** Returns the function that writes the response fields that REST does not have, if they are set. */
export function beyondWriter(f: GeneratedFile, { rpc, beyond }: Operation, options: Options): Printable {
  if (beyond.response.length === 0) return "() => ({})";
  const members = beyond.response.map(
    (field) => `...(m.${field.localName} === undefined ? {} : { ${property(field, options)} })`,
  );
  return ["(m: ", f.importShape(rpc.output), `) => ({ ${members.join(", ")} })`];
}

/** Returns the parameter for the document provider, which only writers that reach a field with its name have. */
function parameter(message: DescMessage, options: Options): string {
  return namesProvider(message, options) ? ", provider: string" : "";
}

function property(field: DescField, options: Options): string {
  const name =
    options.field(field)?.providerName === true ? `[\`${field.name.replace("provider", "${provider}")}\`]` : field.name;
  return `${name}: ${value(field, options)}`;
}

function value(field: DescField, options: Options): string {
  const { type, repeated, nullable } = responseField(field, options);
  const source = `m.${field.localName}`;
  const item = converted(type, "item", options);
  const [, writer = `(item) => ${item}`] = /^(\w+)\(item\)$/.exec(item) ?? [];
  if (repeated) return item === "item" ? source : `${source}.map(${writer})`;
  const plain = converted(type, source, options);
  if (nullable) return plain === source ? `${source} ?? null` : `${source} === undefined ? null : ${plain}`;
  return field.message === undefined
    ? plain
    : converted(type, `${source} ?? unset("${field.parent.name}.${field.name}")`, options);
}

function converted(type: ResponseType, source: string, options: Options): string {
  if (type.kind === "timestamp") return `timestamp(${source})`;
  if (type.kind === "enum") return `enumName(${namesConstant(type.enum)}, ${source})`;
  if (type.kind !== "message") return source;
  return `write${messageName(type.message)}(${source}${namesProvider(type.message, options) ? ", provider" : ""})`;
}

function enumsOf(messages: readonly DescMessage[]): ReadonlySet<DescEnum> {
  return new Set(messages.flatMap(({ fields }) => fields).flatMap((field) => field.enum ?? []));
}

function namesConstant(item: DescEnum): string {
  return `names_${item.typeName.replaceAll(".", "_")}`;
}

const helpers = `type Names = Readonly<Record<number, string>>;

/** A response without what its proto promises is our failure, not something to send. */
function unset(field: string): never {
  throw new Error(\`\${field} is required and not set\`);
}

function enumName(names: Names, value: number): string {
  return names[value] ?? unset(\`The name of the enum value \${value}\`);
}

/** \`2026-01-31T09:30:00.000Z\` */
function timestamp(value: { readonly seconds: bigint; readonly nanos: number }): string {
  return new Date(Number(value.seconds) * 1000 + Math.floor(value.nanos / 1e6)).toISOString();
}`;
