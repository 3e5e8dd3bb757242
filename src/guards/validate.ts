// 422: checks a message against the rules of its proto, and completes it with defaults and the update mask.
import { setImmediate } from "node:timers/promises";
import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import { getOption } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import type { Path } from "@bufbuild/protobuf/reflect";
import { reflect } from "@bufbuild/protobuf/reflect";
import { createValidator } from "@bufbuild/protovalidate";
import { field as fieldRules } from "../gen/buf/validate/validate_pb.ts";
import { Format, field as fieldOption } from "../gen/records/v1/options_pb.ts";
import type { Violation } from "../errors.ts";
import { rejectInput } from "../errors.ts";
import { parseInstant } from "../instant.ts";
import { completeMask } from "./mask.ts";
import { allowedNames, unshowable } from "./showable.ts";

/** No field with a pattern may be longer, so that a hostile text never reaches a pattern (contract §2.4). */
const patternLimit = 1_024;

const patterns = new Map<string, RegExp>();
let made: ReturnType<typeof createValidator> | undefined;
const validator = (): NonNullable<typeof made> => (made ??= createValidator({ regexMatch: matches }));

/**
 * Completes the message in place (defaults, update mask) and fails with INVALID_REQUEST when it breaks a rule of its
 * proto. `found` is what was wrong already before it was a message; a field that is named there is not named again.
 */
export function validate(schema: DescMessage, message: Message, found: readonly Violation[] = []): void {
  const reported = new Set(found.map(({ field }) => field));
  const violations = [...found];
  const add = (violation: Violation): void => {
    if (reported.has(violation.field)) return;
    // What is missing may be missing only because of what was found before: the caller sees that alone.
    if (violation.rule === "update_mask" && found.length > 0) return;
    if (violation.rule === "required" && reported.has("")) return;
    reported.add(violation.field);
    violations.push(violation);
  };
  const leftOut = leftOutBeyondRest(schema, message, reported);
  completeDefaults(schema, message);
  for (const violation of completeMask(schema, message)) add(violation);
  for (const violation of ruleViolations(schema, message)) if (!leftOut.has(violation.field)) add(violation);
  for (const violation of formatViolations(schema, message)) add(violation);
  for (const violation of unshowable(schema, message)) add(violation);
  if (violations.length > 0) rejectInput(violations);
  lowerUuids(schema, message);
}

/**
 * The same for a batch, whose items have their own results: what is wrong with an item is left to whatever makes its
 * result (`violationsOf`). The texts of the items are not read here: all at once they would hold up other requests.
 */
export function validateBatch(schema: DescMessage, message: Message, found: readonly Violation[] = []): void {
  const ofBatch = violationsOf(schema, withoutTexts(schema, message)).filter(({ field }) => !/^\w+\[/.test(field));
  const violations = [...found, ...ofBatch];
  if (violations.length > 0) rejectInput(violations);
  lowerUuids(schema, message);
}

/** The message with as many items, all of which are empty. */
function withoutTexts(schema: DescMessage, message: Message): Message {
  const values = { ...message } as Message & Record<string, unknown>;
  for (const { localName, fieldKind, message: item } of schema.fields)
    if (fieldKind === "list" && item !== undefined)
      values[localName] = new Array<Message>((values[localName] as Message[]).length).fill(reflect(item).message);
  return values;
}

/** The violations of a message: of the rules of its proto, and values that some wire cannot represent. */
export function violationsOf(schema: DescMessage, message: Message): readonly Violation[] {
  const byRules = [...ruleViolations(schema, message), ...formatViolations(schema, message)];
  const named = new Set(byRules.map(({ field }) => field));
  return [...byRules, ...unshowable(schema, message).filter(({ field }) => !named.has(field))];
}

/** Compiles the rules of a message. For the first one this takes 30 ms, for all others together 50. */
export function compileRules(schema: DescMessage): void {
  validator().validate(schema, reflect(schema).message);
}

/** Compiles the rules of these messages, one after the other between requests: none has to wait for all of it. */
export async function warmUp(messages: Iterable<DescMessage>): Promise<void> {
  for (const schema of messages) {
    compileRules(schema);
    await setImmediate();
  }
}

function ruleViolations(schema: DescMessage, message: Message): Violation[] {
  const result = validator().validate(schema, message);
  if (result.kind === "valid") return [];
  if (result.kind === "error") throw result.error;
  const all = result.violations.map(({ field, ruleId, message }) => describe(field, ruleId, message));
  // What is too long is not also reported to break a pattern, against which it was never checked.
  const tooLong = new Set(all.filter(({ rule }) => rule === "string.max_len").map(({ field }) => field));
  return all.filter(({ field, rule }) => rule !== "string.pattern" || !tooLong.has(field));
}

/** What the library says of a rule, and how our own messages say it. */
const plainWords: readonly (readonly [found: RegExp, plain: string])[] = [
  [/\bgreater than or equal to (\S+) and less than or equal to /, "from $1 to "],
  [/\bgreater than or equal to /, "at least "],
  [/\bless than or equal to /, "at most "],
  [/^must be in list \[([^\]]*)\]$/, "must be one of $1"],
  [/\b1 characters\b/, "1 character"],
];

const enumRules: ReadonlySet<string> = new Set(["enum.defined_only", "enum.not_in"]);

function describe(path: Path, rule: string, message: string): Violation {
  return { field: fieldName(path), rule, message: wording(path, rule, message) };
}

function wording(path: Path, rule: string, message: string): string {
  const last = path.findLast((part): part is DescField => part.kind === "field");
  // A field that knows whether it was set is required to be; another one can only be seen to be empty.
  if (rule === "required")
    return last?.presence === FeatureSet_FieldPresence.IMPLICIT ? "must not be empty" : "is required";
  // The rules exclude only 0, which means no value.
  if (last?.enum !== undefined && enumRules.has(rule)) return allowedNames(last.enum);
  const hint = last === undefined || rule !== "string.pattern" ? "" : getOption(last, fieldOption).patternMessage;
  return hint !== "" ? hint : plainWords.reduce((text, [found, plain]) => text.replace(found, plain), message);
}

/** `contacts[0].email`: the path as the request spells it. */
function fieldName(path: Path): string {
  let name = "";
  for (const part of path) {
    if (part.kind === "list_sub") name += `[${part.index}]`;
    else if (part.kind === "field") name += name === "" ? part.name : `.${part.name}`;
  }
  return name;
}

function formatViolations(schema: DescMessage, message: Message): Violation[] {
  const texts = message as Message & Record<string, string | undefined>;
  const wrong = dates(schema).filter(
    ({ localName }) => texts[localName] !== undefined && parseInstant(texts[localName]) === undefined,
  );
  return wrong.map(({ name }) => ({
    field: name,
    rule: "string.date_or_date_time",
    message:
      "must be a date that exists, such as 2026-01-31, or a date-time with an offset, such as 2026-01-31T09:30:00Z",
  }));
}

function completeDefaults(schema: DescMessage, message: Message): void {
  for (const { field, value } of defaults(schema)) {
    const fields = reflect(schema, message);
    if (!fields.isSet(field)) fields.set(field, value);
  }
}

/** The fields that are left out, and may be because a field is given, right or wrong, that REST does not have. */
function leftOutBeyondRest(schema: DescMessage, message: Message, wrong: ReadonlySet<string>): ReadonlySet<string> {
  const { optional, beyond } = beyondRest(schema);
  if (optional.length === 0) return none;
  const fields = reflect(schema, message);
  if (!beyond.some((field) => fields.isSet(field) || wrong.has(field.name))) return none;
  return new Set(optional.filter((field) => !fields.isSet(field)).map(({ name }) => name));
}

const none: ReadonlySet<string> = new Set();

/** Ids are accepted in either case and known in lower case (contract §2.1). */
function lowerUuids(schema: DescMessage, message: Message): void {
  const values = message as Message & Record<string, string | undefined>;
  for (const { localName } of uuids(schema)) {
    const value = values[localName];
    if (value !== undefined) values[localName] = value.toLowerCase();
  }
}

const uuids = perMessage((schema) =>
  schema.fields.filter((field) => {
    const { type } = getOption(field, fieldRules);
    return type.case === "string" && type.value.wellKnown.case === "uuid";
  }),
);

const defaults = perMessage((schema) =>
  schema.fields.flatMap((field) => {
    const value = getOption(field, fieldOption).defaultValue;
    return value === undefined ? [] : [{ field, value }];
  }),
);

const beyondRest = perMessage((schema) => ({
  optional: schema.fields.filter((field) => getOption(field, fieldOption).optionalBeyondRest),
  beyond: schema.fields.filter((field) => getOption(field, fieldOption).beyondRest),
}));

const dates = perMessage((schema) =>
  schema.fields.filter((field) => getOption(field, fieldOption).format === Format.DATE_OR_DATE_TIME),
);

/** Computes something of a message's descriptor once. */
function perMessage<T>(compute: (schema: DescMessage) => T): (schema: DescMessage) => T {
  const known = new Map<DescMessage, T>();
  return (schema) => {
    let value = known.get(schema);
    if (value === undefined) {
      value = compute(schema);
      known.set(schema, value);
    }
    return value;
  };
}

/** Patterns are ECMA-262, as in the OpenAPI document that shows them; the library's own engine has another `\s`. */
function matches(pattern: string, text: string): boolean {
  if (text.length > patternLimit) return false;
  let compiled = patterns.get(pattern);
  if (compiled === undefined) {
    compiled = new RegExp(pattern, "u");
    patterns.set(pattern, compiled);
  }
  return compiled.test(text);
}
