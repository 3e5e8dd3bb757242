// Sanitizes a name in a request, so that a response can repeat it.
import { sanitizeForEcho } from "../text/text.ts";

/** Returns the name, cut to 64 UTF-16 units, with U+FFFD for a lone surrogate. Returns an empty name as two quotes. */
export function echoedName(name: string): string {
  return name === "" ? '""' : sanitizeForEcho(name, 64);
}
