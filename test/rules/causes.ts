// Finds the failures of the service's own that do not say why they happened.
import type { Source } from "./syntax.ts";

/** The failures of a source that name neither a cause nor a word. */
export function unexplained({ path, text }: Source): string[] {
  return [
    ...text.matchAll(
      /\b(?:fail|new Failure)\((?:Reason\.(?:UNAVAILABLE|DEADLINE_EXCEEDED)|deadline\.reason)\b[^]*?\)[;,)]*$/gm,
    ),
  ]
    .map(([call]) => call)
    .filter((call) => !/\b(cause|because|tooLate)\b/.test(call))
    .map((call) => `${path}: ${call}`);
}
