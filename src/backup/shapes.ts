// Checks of stored values: the BSON types that the stores write and rely on, such as in their filters.
import { Binary, ObjectId, UUID } from "mongodb";
import { lastInstant } from "../db/message.ts";

/** What is wrong with a value. */
export interface Problem {
  /** The path to the wrong value; empty for the value itself. */
  readonly path: string;
  /** What it must be. */
  readonly message: string;
}

/** Returns what is wrong with a value; undefined if nothing is. */
export type Check = (value: unknown) => Problem | undefined;

/** The check of every field of a document. A field that a later release adds needs none. */
export type Shape<T> = { readonly [Name in keyof T]-?: Check };

/** The first millisecond of the year 1. */
const firstInstant = -62_135_596_800_000;
const hashBytes = 32;
/** Names of fields. Others could be operators or paths, or mean something to our own pipelines or to the driver. */
const fieldName = /^(?:_id|[A-Za-z]\w*)$/;

function must(be: string, isSo: (value: unknown) => boolean): Check {
  return (value) => (isSo(value) ? undefined : problem(`must be ${be}`));
}

export const aText = must("a string", (value) => typeof value === "string");
export const aNull = must("null", (value) => value === null);
export const aFlag = must("true or false", (value) => typeof value === "boolean");
export const aNumber = must("a number", Number.isFinite);
export const aCount = must("a whole number from 0", (value) => Number.isSafeInteger(value) && (value as number) >= 0);
export const anId = must("a UUID", (value) => value instanceof UUID);
export const anObjectId = must("an ObjectId", (value) => value instanceof ObjectId);
export const aHash = must(
  "the SHA-256 of a key",
  (value) => isBytes(value) && (value as Binary).length() === hashBytes,
);
export const someBytes = must("bytes", isBytes);
export const aTime = must(
  "a time from the year 1 to 9999",
  (value) => value instanceof Date && value.getTime() >= firstInstant && value.getTime() <= lastInstant,
);

/** How far the clocks of services and providers may differ, in milliseconds. */
const maxAheadMs = 3_600_000;

export const aPastTime = must(
  "a time that has passed",
  (value) => value instanceof Date && value.getTime() >= firstInstant && value.getTime() <= Date.now() + maxAheadMs,
);

function problem(message: string): Problem {
  return { path: "", message };
}

function isBytes(value: unknown): boolean {
  return value instanceof Binary && value.sub_type === Binary.SUBTYPE_DEFAULT;
}

export function oneOf(...values: readonly unknown[]): Check {
  return must(`one of ${values.join(", ")}`, (value) => values.includes(value));
}

/** Accepts a missing value too. */
export function optional(check: Check): Check {
  return (value) => (value === undefined ? undefined : check(value));
}

/** Accepts null too. */
export function orNull(check: Check): Check {
  return (value) => (value === null ? undefined : check(value));
}

/** Accepts null and a missing value too. */
export function unset(check: Check): Check {
  return optional(orNull(check));
}

/** Accepts a list, of at least `min` values. */
export function listOf(check: Check, min = 0): Check {
  return (value) => {
    if (!Array.isArray(value) || value.length < min)
      return problem(`must be a list${min === 0 ? "" : " and not empty"}`);
    return firstProblem(value.map((item, at) => [`[${at}]`, () => check(item)]));
  };
}

/** Accepts a document with these fields. With `only`, it has no others, and has them in this order. */
export function documentOf<T>(shape: Shape<T>, only = false): Check {
  const names = Object.keys(shape);
  return (value) => {
    if (!isDocument(value)) return problem("must be a document");
    if (only && Object.keys(value).join() !== names.join()) return problem(`must have the fields ${names.join(", ")}`);
    return firstProblem(names.map((name) => [name, () => shape[name as keyof T](value[name])]));
  };
}

/** Accepts what any of the checks accepts. */
export function anyOf(be: string, ...checks: readonly Check[]): Check {
  return must(be, (value) => checks.some((check) => check(value) === undefined));
}

/** Returns the check for every field of a table. */
export function each<Fields extends Readonly<Record<string, string>>>(
  fields: Fields,
  check: Check,
): { [Name in Fields[keyof Fields]]: Check } {
  return Object.fromEntries(Object.values(fields).map((name) => [name, check])) as {
    [Name in Fields[keyof Fields]]: Check;
  };
}

/** Accepts values without operators: at every level, the names of fields are plain. */
export function plainNames(value: unknown): Problem | undefined {
  if (Array.isArray(value)) return firstProblem(value.map((item, at) => [`[${at}]`, () => plainNames(item)]));
  if (!isDocument(value)) return undefined;
  const names = Object.keys(value);
  if (!names.every((name) => fieldName.test(name)))
    return problem("must have fields whose names are letters, digits and underscores, with a letter first");
  return firstProblem(names.map((name) => [name, () => plainNames(value[name])]));
}

/** Whether a value is a document, and no value of another BSON type. */
function isDocument(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** Returns the first problem, with the path to it. */
function firstProblem(
  checks: readonly (readonly [name: string, check: () => Problem | undefined])[],
): Problem | undefined {
  for (const [name, check] of checks) {
    const found = check();
    if (found === undefined) continue;
    const isNested = found.path !== "" && !found.path.startsWith("[");
    return { path: `${name}${isNested ? "." : ""}${found.path}`, message: found.message };
  }
  return undefined;
}
