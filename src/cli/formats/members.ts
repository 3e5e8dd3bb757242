// Reads the members of JSON whose form is not known in advance.

export type Json = Readonly<Record<string, unknown>>;

/** Parses JSON, or a value in each line as a list. Fails if it is neither. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    try {
      if (lines.length > 1) return lines.map((line) => JSON.parse(line) as unknown);
    } catch {
      // The whole text has the better reason.
    }
    throw error;
  }
}

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns a member of an object, or an item of a list. */
export function at(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name) ? (value as Json)[name] : undefined;
}

export function membersOf(value: unknown): Json {
  return isObject(value) ? value : {};
}

export function listOf(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? (value as readonly unknown[]) : undefined;
}

export function listAt(value: unknown, name: string): readonly unknown[] | undefined {
  return listOf(at(value, name));
}

/** Returns the first of these members that is a text. */
export function firstText(value: unknown, names: readonly string[]): string | undefined {
  return names
    .map((name) => at(value, name))
    .find((one): one is string => typeof one === "string" && one.trim() !== "");
}

/** Dates since 1973 in milliseconds, and until 5138 in seconds. */
const minMillis = 100_000_000_000;

/** Returns an instant, which can be counted in seconds. A date without an offset from UTC is none. */
export function dateOf(value: unknown): Date | undefined {
  if (typeof value === "number") return value < minMillis / 1_000 ? undefined : dateOfNumber(value);
  if (typeof value !== "string") return undefined;
  if (!/^\d{4}-\d\d-\d\d(?:$|T.*(?:Z|[+-]\d\d:?\d\d)$)/.test(value)) return undefined;
  return dateOfNumber(Date.parse(value));
}

function dateOfNumber(value: number): Date | undefined {
  const date = new Date(value < minMillis ? value * 1_000 : value);
  return Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9_999 ? undefined : date;
}
