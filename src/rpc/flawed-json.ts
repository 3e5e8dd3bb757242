// Finds everything that is wrong with a message in protobuf's JSON, once it is known that something is.
import type { DescEnum, DescField, DescMessage, JsonObject, JsonValue, Message } from "@bufbuild/protobuf";
import { ScalarType, fromJson } from "@bufbuild/protobuf";
import { withEnumNames } from "../../gateway/enum-names.ts";
import { shownName } from "../../gateway/shown-name.ts";
import type { Violation } from "../errors.ts";
import { mostViolations } from "../errors.ts";

/** What could be read of the message, and what stood against the rest. */
export interface FlawedReading {
  /** Undefined where no sound part of it can be told from the rest. */
  readonly message: Message | undefined;
  readonly violations: readonly Violation[];
}

const duplicateKey = /duplicate object key "(.*)"$/s;
const lowest = -2_147_483_648;
const highest = 2_147_483_647;

/** Reads what the library refused to; `refusal` is the error that it refused with. */
export function readFlawedJson(input: DescMessage, text: string, refusal: unknown): FlawedReading {
  let json: JsonValue;
  try {
    json = JSON.parse(text) as JsonValue;
  } catch (error) {
    return unreadable("json", `the message must be JSON: ${(error as Error).message}`);
  }
  if (!isObject(json)) return unreadable("object", "the message must be a JSON object");
  const { message } = refusal as Error;
  // JSON.parse has kept one of two properties with the same name: only the library's reader saw both.
  const twice = duplicateKey.exec(message)?.[1];
  const violations = twice === undefined ? [] : [duplicate(fieldOf(input, twice)?.name ?? twice)];
  const sound: JsonObject = {};
  collect(input, json, "", violations, sound);
  if (violations.length === 0) return unreadable("json", `the message cannot be read: ${message.slice(0, 200)}`);
  // A list of which a part is left out would break other rules, and be told of those too; so would what was not looked at.
  const deep = Object.keys(json).some((key) => !(key in sound) && !isPlain(fieldOf(input, key)));
  return { message: deep || violations.length >= mostViolations ? undefined : decoded(input, sound), violations };
}

/** Adds what is wrong with an object's properties; those with which nothing is wrong go to `sound`. */
function collect(desc: DescMessage, json: JsonObject, path: string, violations: Violation[], sound: JsonObject = {}): void {
  const seen = new Map<DescField, string>();
  for (const [key, value] of Object.entries(json)) {
    if (violations.length >= mostViolations) return;
    const field = fieldOf(desc, key);
    if (field === undefined) {
      const names = desc.fields.map(({ name }) => name).join(", ");
      violations.push({ field: path + shownName(key), rule: "unknown_property", message: names === "" ? "is unknown: there are no properties" : `is none of the properties ${names}` });
      continue;
    }
    // By either of its names, but by one of them only.
    const before = seen.get(field);
    if (before !== undefined) {
      violations.push(duplicate(path + field.name));
      delete sound[before];
      continue;
    }
    seen.set(field, key);
    if (decoded(desc, { [key]: value }) !== undefined) sound[key] = value;
    else explain(desc, field, key, value, path + field.name, violations);
  }
}

function decoded(desc: DescMessage, json: JsonObject): Message | undefined {
  try {
    return fromJson(desc, withEnumNames(desc, json));
  } catch {
    return undefined;
  }
}

/** JSON spells a field by its name, or by its name in JSON. */
function fieldOf(desc: DescMessage, key: string): DescField | undefined {
  return desc.fields.find(({ name, jsonName }) => name === key || jsonName === key);
}

function isPlain(field: DescField | undefined): boolean {
  return field === undefined || field.fieldKind === "scalar" || field.fieldKind === "enum";
}

/** Adds why a property cannot be decoded, by as deep a path as there is. */
function explain(desc: DescMessage, field: DescField, key: string, value: JsonValue, path: string, violations: Violation[]): void {
  if (field.fieldKind !== "list") return explainOne(field, value, path, violations);
  if (!Array.isArray(value)) return void violations.push({ field: path, ...type("must be a list") });
  for (const [index, item] of value.entries()) {
    if (violations.length >= mostViolations) return;
    if (decoded(desc, { [key]: [item] }) === undefined) explainOne(field, item, `${path}[${index}]`, violations);
  }
}

function explainOne(field: DescField, value: JsonValue, path: string, violations: Violation[]): void {
  const { message } = field;
  if (message !== undefined && field.fieldKind !== "map" && !message.typeName.startsWith("google.protobuf.") && isObject(value)) return collect(message, value, `${path}.`, violations);
  violations.push({ field: path, ...expectation(field, value) });
}

function expectation({ scalar, enum: names, message, fieldKind }: DescField, value: JsonValue): Pick<Violation, "rule" | "message"> {
  if (fieldKind === "map") return type("must be an object whose values are of the right type");
  if (names !== undefined) return { rule: "enum", message: `must be one of ${namesOf(names)}` };
  if (message !== undefined) return type(forms[message.typeName] ?? "must be an object");
  switch (scalar) {
    case ScalarType.STRING:
      return typeof value === "string" ? { rule: "surrogate", message: "must not hold a lone surrogate" } : type("must be a string");
    case ScalarType.BOOL:
      return type("must be true or false");
    case ScalarType.INT32:
      if (typeof value === "number" && value > highest) return { rule: "range", message: `must be at most ${highest}` };
      if (typeof value === "number" && value < lowest) return { rule: "range", message: `must be at least ${lowest}` };
      return type("must be a whole number");
    default:
      return type("must be a value of its type");
  }
}

/** How the messages are written that JSON has a form of its own for. */
const forms: Readonly<Record<string, string>> = {
  "google.protobuf.Timestamp": "must be a date-time with an offset, such as 2026-01-31T09:30:00Z",
  "google.protobuf.FieldMask": "must be a string of field names as JSON spells them, such as fullName,email",
};

function type(message: string): Pick<Violation, "rule" | "message"> {
  return { rule: "type", message };
}

/** The first value of an enum stands for none. */
function namesOf({ values }: DescEnum): string {
  return values.filter(({ number }) => number !== 0).map(({ name }) => name).join(", ");
}

function duplicate(name: string): Violation {
  return { field: shownName(name), rule: "duplicate", message: "must not be given more than once" };
}

function unreadable(rule: string, message: string): FlawedReading {
  return { message: undefined, violations: [{ field: "", rule, message }] };
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
