// 422: checks a message against the rules of its proto, and completes it with defaults and the update mask.
import { setImmediate } from "node:timers/promises";
import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import { getOption } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import type { Path } from "@bufbuild/protobuf/reflect";
import { reflect } from "@bufbuild/protobuf/reflect";
import { createValidator } from "@bufbuild/protovalidate";
import { field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { Format, field as fieldOption } from "../gen/records/v1/options_pb.ts";
import type { Violation } from "../call/errors.ts";
import { rejectInput } from "../call/errors.ts";
import { parseInstant } from "../text/instant.ts";
import { limitLists, withoutItems } from "./list-limits.ts";
import { completeMask } from "./mask.ts";
import { perMessage } from "./per-message.ts";
import { allowedNames, unrepresentableValues } from "./representable.ts";

/** The maximum length of a field with a pattern, so that a hostile text never reaches a pattern (contract §2.4). */
const patternLimit = 1_024;

const patterns = new Map<string, RegExp>();
let made: ReturnType<typeof createValidator> | undefined;
const validator = (): NonNullable<typeof made> => (made ??= createValidator({ regexMatch: matches }));

/**
 * Completes the message in place (defaults, update mask). Fails with INVALID_REQUEST if it breaks a rule of its proto.
 * `found` has the violations found by decoding, whose fields are not reported again.
 */
export function validate(schema: DescMessage, message: Message, found: readonly Violation[] = []): void {
  const reported = new Set(found.map(({ field }) => field));
  const violations = [...found];
  const add = (violation: Violation): void => {
    if (reported.has(violation.field)) return;
    // A field may be missing only because of an earlier violation. Then only that one is reported.
    if (violation.rule === "update_mask" && found.length > 0) return;
    if (violation.rule === "required" && reported.has("")) return;
    reported.add(violation.field);
    violations.push(violation);
  };
  const lists = limitLists(schema, message);
  for (const violation of lists.violations) add(violation);
  // The message itself, unless a list is too long. Then the request is rejected, and nothing reads the message.
  const checked = lists.message;
  const treatment = treatmentOf(schema);
  const leftOut = leftOutBeyondRest(schema, treatment, checked, reported);
  completeDefaults(schema, treatment, checked);
  for (const violation of completeMask(schema, checked)) add(violation);
  for (const violation of ruleViolations(schema, checked)) if (!leftOut.has(violation.field)) add(violation);
  for (const violation of formatViolations(treatment, checked)) add(violation);
  for (const violation of unrepresentableValues(schema, checked)) add(violation);
  if (violations.length > 0) rejectInput(violations);
  lowerUuids(treatment, message);
}

/**
 * Validates a batch except for its items. Fails with INVALID_REQUEST if it breaks a rule. Each item has its own result,
 * for which `violationsOf` finds the violations. The items are not read here, because reading them all at once would
 * block other requests.
 */
export function validateBatch(schema: DescMessage, message: Message, found: readonly Violation[] = []): void {
  const lists = limitLists(schema, message);
  const ofLists = new Set(lists.violations.map(({ field }) => field));
  const ofBatch = violationsOf(schema, withoutItems(schema, lists.message)).filter(
    ({ field }) => !/^\w+\[/.test(field) && !ofLists.has(field),
  );
  const violations = [...found, ...lists.violations, ...ofBatch];
  if (violations.length > 0) rejectInput(violations);
  lowerUuids(treatmentOf(schema), message);
}

/** Returns the violations of a message: broken rules of its proto, and values that some wire cannot represent. */
export function violationsOf(schema: DescMessage, message: Message): readonly Violation[] {
  const byRules = [...ruleViolations(schema, message), ...formatViolations(treatmentOf(schema), message)];
  const named = new Set(byRules.map(({ field }) => field));
  return [...byRules, ...unrepresentableValues(schema, message).filter(({ field }) => !named.has(field))];
}

/** Compiles the rules of a message. This takes 30 ms for the first message, and 50 ms for all others together. */
export function compileRules(schema: DescMessage): void {
  validator().validate(schema, reflect(schema).message);
}

/** Compiles the rules of these messages one after the other, so that requests are served in between. */
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
  // A text that is too long was never matched, so its broken pattern is not reported as well.
  const tooLong = new Set(all.filter(({ rule }) => rule === "string.max_len").map(({ field }) => field));
  return all.filter(({ field, rule }) => rule !== "string.pattern" || !tooLong.has(field));
}

/** Phrases in the library's messages, with our wording for them. */
const plainWords: readonly (readonly [found: RegExp, plain: string])[] = [
  [/\bgreater than or equal to (?=\S+ and less than or equal to )/, "from "],
  [/ and less than or equal to /, " to "],
  [/\bgreater than or equal to /, "at least "],
  [/\bless than or equal to /, "at most "],
  [/^must be in list \[([^\]]*)\]$/, "must be one of $1"],
  [/\bno more than /, "at most "],
  [/^value is empty, which is not a valid /, "must be a valid "],
  [/\b1 (character|item)(?:s|\(s\))/, "1 $1"],
  [/\bitem\(s\)/, "items"],
];

const enumRules: ReadonlySet<string> = new Set(["enum.defined_only", "enum.not_in"]);

function describe(path: Path, rule: string, message: string): Violation {
  return { field: fieldName(path), rule, message: wording(path, rule, message) };
}

function wording(path: Path, rule: string, message: string): string {
  const last = path.findLast((part): part is DescField => part.kind === "field");
  // Only a field with presence can be missing. Any other can only be empty.
  if (rule === "required")
    return last?.presence === FeatureSet_FieldPresence.IMPLICIT ? "must not be empty" : "is required";
  // The rules exclude only 0, which means that no value is set.
  if (last?.enum !== undefined && enumRules.has(rule)) return allowedNames(last.enum);
  const hint = last === undefined || rule !== "string.pattern" ? "" : getOption(last, fieldOption).patternMessage;
  return hint !== "" ? hint : plainWords.reduce((text, [found, plain]) => text.replace(found, plain), message);
}

/** Returns a path as the request spells it, such as `contacts[0].email`. */
function fieldName(path: Path): string {
  let name = "";
  for (const part of path) {
    if (part.kind === "list_sub") name += `[${part.index}]`;
    else if (part.kind === "field") name += name === "" ? part.name : `.${part.name}`;
  }
  return name;
}

function formatViolations({ dates }: Treatment, message: Message): Violation[] {
  const texts = message as Message & Record<string, string | undefined>;
  const wrong = dates.filter(
    ({ localName }) => texts[localName] !== undefined && parseInstant(texts[localName]) === undefined,
  );
  return wrong.map(({ name }) => ({
    field: name,
    rule: "string.date_or_date_time",
    message:
      "must be a date that exists, such as 2026-01-31, or a date-time with an offset, such as 2026-01-31T09:30:00Z",
  }));
}

function completeDefaults(schema: DescMessage, { defaults }: Treatment, message: Message): void {
  for (const { field, value } of defaults) {
    const fields = reflect(schema, message);
    if (!fields.isSet(field)) fields.set(field, value);
  }
}

/** Returns the omitted fields that are optional because the request has a field, valid or not, that REST lacks. */
function leftOutBeyondRest(
  schema: DescMessage,
  { optional, beyond }: Treatment,
  message: Message,
  wrong: ReadonlySet<string>,
): ReadonlySet<string> {
  if (optional.length === 0) return none;
  const fields = reflect(schema, message);
  if (!beyond.some((field) => fields.isSet(field) || wrong.has(field.name))) return none;
  return new Set(optional.filter((field) => !fields.isSet(field)).map(({ name }) => name));
}

const none: ReadonlySet<string> = new Set();

/** Converts ids to lower case. Either case is accepted (contract §2.1). */
function lowerUuids({ uuids }: Treatment, message: Message): void {
  const values = message as Message & Record<string, string | undefined>;
  for (const { localName } of uuids) {
    const value = values[localName];
    if (value !== undefined) values[localName] = value.toLowerCase();
  }
}

/** What is done with the fields of a message, by its options. */
const treatmentOf = perMessage((schema) => ({
  uuids: schema.fields.filter((field) => {
    const { type } = getOption(field, fieldRules);
    return type.case === "string" && type.value.wellKnown.case === "uuid";
  }),
  defaults: schema.fields.flatMap((field) => {
    const value = getOption(field, fieldOption).defaultValue;
    return value === undefined ? [] : [{ field, value }];
  }),
  optional: schema.fields.filter((field) => getOption(field, fieldOption).optionalBeyondRest),
  beyond: schema.fields.filter((field) => getOption(field, fieldOption).beyondRest),
  dates: schema.fields.filter((field) => getOption(field, fieldOption).format === Format.DATE_OR_DATE_TIME),
}));
type Treatment = ReturnType<typeof treatmentOf>;

/**
 * Returns whether a text matches an ECMA-262 pattern. The OpenAPI document shows the same patterns, and the library's
 * own engine has a different `\s`.
 */
function matches(pattern: string, text: string): boolean {
  if (text.length > patternLimit) return false;
  let compiled = patterns.get(pattern);
  if (compiled === undefined) {
    compiled = new RegExp(pattern, "u");
    patterns.set(pattern, compiled);
  }
  return compiled.test(text);
}
