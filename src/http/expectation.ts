// The `Expect` header of a request (RFC 9110 §10.1.1).
import type { Request } from "../call/exchange.ts";

/**
 * Returns whether the header is exactly 100-continue, in any case. Node itself finds that anywhere in the header over
 * HTTP/1.1, and only in lower case over HTTP/2.
 */
export function expectsContinue({ headers }: Request): boolean {
  return headers.expect?.toLowerCase() === "100-continue";
}
