// The expectation of a request (RFC 9110 §10.1.1).
import type { Request } from "../call/exchange.ts";

/**
 * Whether it is 100-continue alone, in any case. Node itself looks for that anywhere in the header in HTTP/1.1, and by
 * the letter in HTTP/2.
 */
export function expectsContinue({ headers }: Request): boolean {
  return headers.expect?.toLowerCase() === "100-continue";
}
