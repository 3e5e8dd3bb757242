// What a change of the published description takes away or makes stricter (spec Versioning 2 and 3).

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** Says nothing of what may be sent or will come. */
const words = new Set([
  "description",
  "summary",
  "title",
  "example",
  "examples",
  "info",
  "servers",
  "tags",
  "deprecated",
]);
/** Bounds of what may be sent: the first may only grow, the second only shrink. */
const most = new Set(["maxLength", "maximum", "maxItems", "exclusiveMaximum"]);
const least = new Set(["minLength", "minimum", "minItems", "exclusiveMinimum"]);
/** Keywords that narrow what is taken, where they were not there before. */
const narrowing = new Set([
  ...most,
  ...least,
  "pattern",
  "format",
  "enum",
  "const",
  "multipleOf",
  "uniqueItems",
  "additionalProperties",
  "not",
]);

/** The places in the description, as `a.b.c`, at which the newer one no longer keeps what the released one promised. */
export function taken(released: Json, newer: Json, at: readonly string[] = []): string[] {
  const place = at.join(".");
  const keyword = at.at(-1) ?? "";
  if (keyword === "required" && Array.isArray(released)) return requiredOtherwise(released, newer, at);
  if (most.has(keyword)) return newer === undefined || Number(newer) >= Number(released) ? [] : [place];
  if (least.has(keyword)) return newer === undefined || Number(newer) <= Number(released) ? [] : [place];
  // A field of a request may accept more types than before.
  if (keyword === "type" && isSent(at))
    return typesIn(released).every((type) => typesIn(newer).includes(type)) ? [] : [place];
  if (Array.isArray(released)) return takenFromList(released, newer, at);
  if (released === null || typeof released !== "object") return released === newer ? [] : [place];
  if (newer === null || typeof newer !== "object" || Array.isArray(newer)) return [place];
  const next = widened(released, newer as Readonly<Record<string, Json>>, at);
  const kept = Object.entries(released).filter(([name]) => !words.has(name) || isProperty(at));
  const lost = kept.flatMap(([name, value]) =>
    name in next || narrowing.has(name) ? taken(value, next[name] as Json, [...at, name]) : [[...at, name].join(".")],
  );
  const added = Object.keys(next).filter(
    (name) => !(name in released) && narrowing.has(name) && !isProperty(at) && isSent(at),
  );
  return [...lost, ...added.map((name) => [...at, name].join("."))];
}

/** The newer schema of a request, without other schemas that are accepted as well, such as null. */
function widened(released: object, newer: Readonly<Record<string, Json>>, at: readonly string[]): typeof newer {
  const { anyOf, ...rest } = newer;
  if (!("$ref" in released) || "anyOf" in released || !Array.isArray(anyOf) || !isSent(at)) return newer;
  const same = (anyOf as readonly { readonly $ref?: Json }[]).some(({ $ref }) => $ref === released.$ref);
  return same ? { ...rest, $ref: released.$ref as Json } : newer;
}

/**
 * Members are found by their name where they have one: their order says nothing. New ones may come, but no parameter
 * that must be sent.
 */
function takenFromList(released: readonly Json[], newer: Json, at: readonly string[]): string[] {
  const members = Array.isArray(newer) ? (newer as readonly Json[]) : [];
  const nameOf = (member: Json): string =>
    typeof member === "object" && member !== null && "name" in member
      ? `${String(member["in"])} ${String(member["name"])}`
      : JSON.stringify(member);
  const lost = released.flatMap((member) => {
    const same = members.find((one) => nameOf(one) === nameOf(member));
    return same === undefined ? [[...at, nameOf(member)].join(".")] : taken(member, same, [...at, nameOf(member)]);
  });
  const added = members.filter((one) => !released.some((member) => nameOf(member) === nameOf(one)));
  const demanded = added.filter(
    (one) => typeof one === "object" && one !== null && "required" in one && one["required"] === true,
  );
  return [...lost, ...demanded.map((one) => [...at, nameOf(one)].join("."))];
}

/** Of a request nothing more may be required, and of a response nothing less. */
function requiredOtherwise(released: readonly Json[], newer: Json, at: readonly string[]): string[] {
  const now = Array.isArray(newer) ? (newer as readonly Json[]) : [];
  const [before, after] = isSent(at) ? [now, released] : [released, now];
  return before.filter((name) => !after.includes(name)).map((name) => `${at.join(".")}.${String(name)}`);
}

function typesIn(type: Json): readonly Json[] {
  return Array.isArray(type) ? (type as readonly Json[]) : [type];
}

function isSent(at: readonly string[]): boolean {
  return (
    at.includes("requestBody") ||
    at.includes("parameters") ||
    (at[1] === "schemas" && at[2]?.endsWith("Request") === true)
  );
}

/** Whether what is here has names of its own, which are no keywords. */
function isProperty(at: readonly string[]): boolean {
  return ["properties", "schemas", "paths", "responses", "headers"].includes(at.at(-1) ?? "");
}
