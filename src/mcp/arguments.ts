// Reads the arguments of a tool call into the request message of an rpc, and collects all violations.
import type { Message } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { Violation } from "../call/errors.ts";
import { loneSurrogate } from "../text/text.ts";
import type { Json } from "../http/json.ts";
import type { RequestField, Route } from "../http/route.ts";
import type { RequestReading, Scalar } from "../http/scalar.ts";
import { missing, readValue, set } from "../http/scalar.ts";
import { echoedName } from "../http/echoed-name.ts";
import { collectUnknown } from "../http/unknown-names.ts";
import { parseId } from "./record-id.ts";

/**
 * Reads the arguments of one operation: its path and query parameters, and its fields beyond REST. A null counts as
 * left out, and so does an empty string for an optional argument. Accepts unambiguous variants: `"10"` or `"10.0"` for
 * 10, 42 for `"42"`, `"True"` for true, the name of an enum value in any case, `contact:<uuid>` for a `contact_id`.
 */
export type ArgumentReader = (given: Readonly<Record<string, unknown>>) => RequestReading;

/** Creates the reader of a route without a body, or of an rpc that REST does not have. */
export function createArgumentReader(route: Pick<Route, "rpc" | "path" | "query" | "beyond">): ArgumentReader {
  const beyond = route.beyond?.fields ?? [];
  const fields = new Map([...route.path, ...route.query, ...beyond].map((field) => [field.name, field]));
  const isGiven = (given: Readonly<Record<string, unknown>>, name: string): boolean =>
    (given[name] ?? null) !== null && given[name] !== "";
  return (given) => {
    const violations: Violation[] = [];
    const unknown = collectUnknown(violations);
    const message = create(route.rpc.input) as Message & Record<string, Scalar>;
    for (const [name, value] of Object.entries(given)) {
      const field = fields.get(name);
      if (field === undefined) unknown.add(() => unknownArgument(name, [...fields.keys()]));
      else if (typeof value === "string" && loneSurrogate.test(value))
        violations.push({ field: name, rule: "surrogate", message: "must not contain a lone surrogate" });
      else if (value !== null && (value !== "" || isNeeded(field, given)))
        set(message, field, readValue(field, meant(field, value as Json), violations));
    }
    unknown.finish();
    for (const field of fields.values()) {
      if (isNeeded(field, given) && (given[field.name] ?? null) === null) violations.push(missing(field));
    }
    return { message, violations };
  };

  function isNeeded(field: RequestField, given: Readonly<Record<string, unknown>>): boolean {
    return field.required && !(field.optionalBeyondRest === true && beyond.some(({ name }) => isGiven(given, name)));
  }
}

/** Returns the value that a model means by one of another form. Returns the value unchanged if that is unclear. */
function meant(field: RequestField, value: Json): Json {
  if (field.kind === "string") return meantText(field.name, value) as Json;
  if (typeof value !== "string") return value;
  const lower = value.trim().toLowerCase();
  switch (field.kind) {
    case "int32":
      return meantInteger(value);
    case "bool":
      return lower === "true" || (lower === "false" ? false : value);
    case "enum":
      return Object.keys(field.values).find((known) => known.toLowerCase() === lower) ?? value;
  }
}

/** The arguments that can be any text. */
const texts: ReadonlySet<string> = new Set(["query", "contact_name"]);

/** Returns the arguments without those that a model leaves out by the name of a null. No other value has such a name. */
export function withoutNulls(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const isNull = (name: string, value: unknown): boolean =>
    typeof value === "string" && /^\s*(?:null|none|undefined)\s*$/i.test(value) && !texts.has(name);
  return Object.fromEntries(Object.entries(given).filter(([name, value]) => !isNull(name, value)));
}

/** Returns the arguments by the names that a client means, such as `contact_id` by `contactId`. */
export function withKnownNames(
  given: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string>,
): Readonly<Record<string, unknown>> {
  const meant = (name: string): string => {
    const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return known.has(snake) && !Object.hasOwn(given, snake) ? snake : name;
  };
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [meant(name), value]));
}

/**
 * Returns the text that a model means by a whole number, such as 42 for the end of a phone number, the last ten digits of
 * such an end, and the UUID in any form of an id. Returns any other value unchanged.
 */
export function meantText(name: string, value: unknown): unknown {
  if (Number.isSafeInteger(value)) return String(value);
  if (name === "phone_ends_with" && typeof value === "string" && /^[-+().\s\d]+$/.test(value))
    return value.replace(/\D/g, "").slice(-10);
  const id = name.endsWith("_id") ? parseId(value) : undefined;
  return id !== undefined && (id.kind === undefined || name === `${id.kind}_id`) ? id.uuid : value;
}

/** Returns the whole number in a text such as "10" or "10.0". Returns any other text unchanged. */
export function meantInteger(text: string): number | string {
  return /^[+-]?[0-9]{1,15}(?:\.0{1,15})?$/.test(text.trim()) ? Number(text) : text;
}

/** Returns a violation that lists the known arguments. */
export function unknownArgument(name: string, names: readonly string[]): Violation {
  const message = `must be left out: the arguments are ${names.join(", ")}`;
  return { field: echoedName(name), rule: "unknown_argument", message };
}
