// Compares documented output with actual output: texts with `…` for what differs, JSON by its shape.

/** These values say what something means, and have to be the same; other values differ from run to run. */
const exact = new Set([
  "code",
  "message",
  "reason",
  "field",
  "rule",
  "status",
  "version",
  "has_more",
  "limit",
  "offset",
]);

/** Whether a text is as shown, where `…` stands for anything within a line. */
function isLike(shown: string, came: string): boolean {
  const pattern = shown
    .split("…")
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join(".*");
  return new RegExp(`^${pattern}$`).test(came);
}

/** The shown lines that did not come, in their order; a line of `…` stands for any number of lines. */
export function linesLike(shown: readonly string[], came: readonly string[]): boolean {
  const [first, ...rest] = shown;
  if (first === undefined) return came.every((line) => line.trim() === "");
  if (first === "…")
    return Array.from({ length: came.length + 1 }, (_, skipped) => came.slice(skipped)).some((left) =>
      linesLike(rest, left),
    );
  const [line, ...others] = came;
  return line !== undefined && isLike(first.trimEnd(), line.trimEnd()) && linesLike(rest, others);
}

/**
 * Compares shown JSON with what came: shape, nulls, and the values of the exact names. `…` as a value stands for any
 * value, and as the last element of a list for any further elements. Returns the differences, each with its path.
 */
export function differences(shown: unknown, came: unknown, path = "$"): string[] {
  if (shown === "…") return [];
  const name = path.slice(path.lastIndexOf(".") + 1);
  if (exact.has(name) && typeof shown !== "object")
    return typeof shown === "string" && typeof came === "string"
      ? isLike(shown, came)
        ? []
        : [`${path} is ${came}`]
      : shown === came
        ? []
        : [`${path} is ${String(came)}`];
  if (kindOf(shown) !== kindOf(came)) return [`${path} is ${kindOf(came)}, not ${kindOf(shown)}`];
  if (Array.isArray(shown) && Array.isArray(came)) {
    const open = shown.at(-1) === "…";
    const elements: unknown[] = open ? shown.slice(0, -1) : shown;
    if (open ? came.length < elements.length : came.length !== elements.length)
      return [`${path} has ${came.length} elements, not ${elements.length}`];
    return elements.flatMap((element, at) => differences(element, came[at], `${path}[${at}]`));
  }
  if (typeof shown !== "object" || shown === null || typeof came !== "object" || came === null) return [];
  const [one, other] = [shown, came] as Record<string, unknown>[];
  const names = new Set([...Object.keys(one ?? {}), ...Object.keys(other ?? {})]);
  return [...names].flatMap((key) => {
    if (!(key in (one ?? {}))) return [`${path}.${key} is not shown`];
    if (!(key in (other ?? {}))) return [`${path}.${key} did not come`];
    return differences(one?.[key], other?.[key], `${path}.${key}`);
  });
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
