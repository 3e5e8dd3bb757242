// The `Expect` header of a request (RFC 9110 §10.1.1).
import type { ServerHttp2Stream } from "node:http2";
import { holdBody } from "./continue.ts";
import type { Request, Response } from "../call/exchange.ts";

type Framed = Request & { readonly stream?: ServerHttp2Stream };
type Begin = (request: Request, response: Response) => void;

/**
 * Returns the handler of requests with an expectation. The body of one that expects 100-continue is requested when
 * something reads it. Any other expectation is rejected. Node itself finds the name anywhere in the header over
 * HTTP/1.1, and only in lower case over HTTP/2.
 */
export function withExpectation(begin: Begin, reject: Begin): Begin {
  return (request: Framed, response) => {
    const members = membersOf(request.headers.expect);
    if (members.some((one) => one !== "100-continue")) return reject(request, response);
    // Node throws if the client has reset the stream.
    const isOver = (): boolean => response.headersSent || request.stream?.closed === true;
    if (members.length > 0 && hasBody(request)) holdBody(request, () => isOver() || response.writeContinue());
    begin(request, response);
  };
}

/** Returns whether a request has a body, by its framing. */
function hasBody({ headers, stream }: Framed): boolean {
  const length = headers["content-length"] ?? headers["transfer-encoding"] ?? (stream === undefined ? "0" : "");
  return length !== "0" && stream?.endAfterHeaders !== true;
}

/** Returns the members of a list, which can be several lines. Empty ones do not count (RFC 9110 §5.6.1). */
function membersOf(list = ""): string[] {
  const members = list.split(",").map((one) => one.trim().toLowerCase());
  return members.filter((one) => one !== "");
}
