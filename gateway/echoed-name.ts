// Repeats a name out of a request to its sender, whatever the name holds.
import { sanitizeForEcho } from "../src/text.ts";

/** The name cut to 64 UTF-16 units, with U+FFFD for a lone surrogate, which is not text; an empty one in quotes. */
export function echoedName(name: string): string {
  return name === "" ? '""' : sanitizeForEcho(name, 64);
}
