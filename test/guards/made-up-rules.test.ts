// How a message is checked against rules that no proto of ours has yet: patterns without a maximum length, lists and
// maps of texts, rules of a whole message, and rules that do not compile.
import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import { create, setExtension } from "@bufbuild/protobuf";
import { FieldDescriptorProto_Type as Type, MessageOptionsSchema, OneofOptionsSchema } from "@bufbuild/protobuf/wkt";
import { CompilationError } from "@bufbuild/protovalidate";
import { expect, test } from "vitest";
import { Failure } from "../../src/call/errors.ts";
import type { Int32RulesSchema } from "../../src/gen/buf/validate/validate_pb.ts";
import {
  MessageRulesSchema,
  OneofRulesSchema,
  message as messageRules,
  oneof as oneofRules,
} from "../../src/gen/buf/validate/validate_pb.ts";
import { validate, validateBatch, violationsOf, warmUp } from "../../src/guards/validate.ts";
import type { Rules } from "./made-up-message.ts";
import { declared, field, messageOf } from "./made-up-message.ts";

/** What the message is rejected for, each as `field: message`. */
function faultsOf(schema: DescMessage, init: Record<string, unknown>, check = validate): string[] {
  try {
    check(schema, create(schema, init));
    return [];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return error.violations.map(({ field: name, message }) => `${name}: ${message}`);
  }
}

const ofText = (value: { pattern?: string; minLen?: bigint }) => ({ case: "string", value }) as const;

test("a pattern is one of ECMA-262 over whole characters, and rejects a text of more than 1,024", () => {
  const option = { patternMessage: "must be a sign" };
  const schema = messageOf([field("text", { type: ofText({ pattern: "^[^a]\\s*$" }) }, { option })]);
  expect(faultsOf(schema, { text: "\u{1F600}\ufeff" })).toEqual([]);
  expect(faultsOf(schema, { text: "a" })).toEqual(["text: must be a sign"]);
  expect(faultsOf(schema, { text: `b${" ".repeat(1_023)}` })).toEqual([]);
  expect(faultsOf(schema, { text: `b${" ".repeat(1_024)}` })).toEqual(["text: must be a sign"]);
});

const number = { type: Type.INT32 };
const [from10, to20, to9] = [
  { greaterThan: { case: "gte", value: 10 } },
  { lessThan: { case: "lte", value: 20 } },
  { lessThan: { case: "lte", value: 9 } },
] as const;

/** A rule whose message is written in the proto, and which no message keeps. */
const own = (message: string) => ({ cel: [{ id: "own", message, expression: "false" }] });

test("the words of the library become plain ones, and a message that is written in a proto stays", () => {
  const count = (value: MessageInitShape<typeof Int32RulesSchema>): DescMessage =>
    messageOf([field("count", { type: { case: "int32", value } }, number)]);
  expect(faultsOf(count({ ...from10, ...to20 }), { count: 9 })).toEqual(["count: must be from 10 to 20"]);
  expect(faultsOf(count(to9), { count: 10 })).toEqual(["count: must be at most 9"]);
  for (const message of ["each must be in list [a, b]", "must be in list [a, b] or blank"])
    expect(faultsOf(messageOf([field("text", own(message))]), { text: "c" })).toEqual([`text: ${message}`]);
});

test("an enum that a rule restricts is rejected with what the rule allows, and not with every name", () => {
  const value = ["NONE", "RED", "BLUE"].map((name, at) => ({ name, number: at }));
  const onlyRed: Rules = { type: { case: "enum", value: { in: [1] } } };
  const schema = messageOf([field("colour", onlyRed, { type: Type.ENUM, typeName: "Colour" })], {
    enumType: [{ name: "Colour", value }],
  });
  expect(faultsOf(schema, { colour: 2 })).toEqual(["colour: must be one of 1"]);
  expect(faultsOf(schema, { colour: 1 })).toEqual([]);
});

const word = { type: ofText({ pattern: "^[a-z]+$" }) };
const hint = { option: { patternMessage: "must be a word" } };

test("a violation in a list names the item, one in a map names the map, and both have the field's message", () => {
  const inList: Rules = { type: { case: "repeated", value: { items: word } } };
  const list = messageOf([field("words", inList, { isList: true, ...hint })]);
  expect(faultsOf(list, { words: ["ok", "No"] })).toEqual(["words[1]: must be a word"]);
  const inMap: Rules = { type: { case: "map", value: { values: word } } };
  const shape = { type: Type.MESSAGE, typeName: "WordsEntry", isList: true, ...hint };
  const entry = declared("WordsEntry", [field("key"), field("value")], { options: { mapEntry: true } });
  const map = messageOf([field("words", inMap, shape)], { nestedType: [entry] });
  expect(faultsOf(map, { words: { a: "ok", b: "No" } })).toEqual([
    expect.stringMatching(/^words(?:\["b"\])?: must be a word$/),
  ]);
});

test("a rule of a whole message, or of a choice between fields, is reported in its own words", () => {
  const options = create(MessageOptionsSchema);
  setExtension(options, messageRules, create(MessageRulesSchema, own("must have a name or an email")));
  expect(faultsOf(messageOf([field("name")], { options }), {})).toEqual([": must have a name or an email"]);
  const required = create(OneofOptionsSchema);
  setExtension(required, oneofRules, create(OneofRulesSchema, { required: true }));
  const choice = messageOf([field("name", {}, { oneofIndex: 0 })], { oneofDecl: [{ name: "by", options: required }] });
  expect(violationsOf(choice, create(choice))).toMatchObject([{ rule: "required", message: "is required" }]);
});

test("a required field is only optional beyond REST if its options say so", () => {
  const schema = messageOf([
    field("query", { required: true }, { option: { optionalBeyondRest: true } }),
    field("name", { required: true }),
    field("kind", {}, { option: { beyondRest: true } }),
  ]);
  expect(faultsOf(schema, {})).toEqual(["query: must not be empty", "name: must not be empty"]);
  expect(faultsOf(schema, { kind: "a" })).toEqual(["name: must not be empty"]);
  expect(faultsOf(schema, { name: "a" })).toEqual(["query: must not be empty"]);
});

test("the check of a batch covers the lists of a message beside its items", () => {
  const filled: Rules = { type: { case: "repeated", value: { items: { type: ofText({ minLen: 1n }) } } } };
  const named = declared("Named", [field("names", filled, { isList: true })]);
  const shape = { type: Type.MESSAGE, typeName: "Named" };
  const schema = messageOf([field("items", {}, { ...shape, isList: true }), field("all", {}, shape)], {
    nestedType: [named],
  });
  const faults = (init: Record<string, unknown>): string[] => faultsOf(schema, init, validateBatch);
  expect(faults({ items: [{ names: [""] }] })).toEqual([]);
  expect(faults({ items: [{ names: [""] }], all: { names: ["a", ""] } })).toEqual([
    "all.names[1]: must be at least 1 character",
  ]);
});

test("a rule that does not compile is a fault of the service, and not of the message", () => {
  const schema = messageOf([field("count", { type: ofText({ minLen: 1n }) }, number)]);
  expect(() => violationsOf(schema, create(schema, { count: 1 }))).toThrow(CompilationError);
});

test("the rules of messages are compiled one message at a time, and a request is served in between", async () => {
  const order: string[] = [];
  function* messages(): Generator<DescMessage> {
    for (const name of ["first", "second"]) {
      order.push(name);
      yield messageOf([field(name, { required: true })]);
    }
  }
  setImmediate(() => order.push("request"));
  await warmUp(messages());
  expect(order).toEqual(["first", "request", "second"]);
});
