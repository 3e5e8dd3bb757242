// The `Expect` header of a request (RFC 9110 §10.1.1).
import { holdBody } from "./continue.ts";
import type { Request, Response } from "../call/exchange.ts";

type Begin = (request: Request, response: Response) => void;

/**
 * Returns the handler of requests with an expectation. The body of one that expects 100-continue is requested when
 * something reads it. Any other expectation is rejected. Node itself finds the name anywhere in the header over
 * HTTP/1.1, and only in lower case over HTTP/2.
 */
export function withExpectation(begin: Begin, reject: Begin): Begin {
  return (request, response) => {
    if (request.headers.expect?.toLowerCase() !== "100-continue") return reject(request, response);
    holdBody(request, () => response.headersSent || response.writeContinue());
    begin(request, response);
  };
}
