// Responds to a client that is still sending: closing a connection with unread input would take the response from it
// (RFC 9112 §9.6).
import type { Failure } from "../src/errors.ts";
import type { Request, Response } from "./http.ts";
import { failureEnvelope, setFailureHeaders, setJsonHead } from "./response.ts";

/**
 * How long what a client still sends after its request was rejected is read and thrown away: it would not see the
 * response otherwise.
 */
export const lingerMs = 1_000;

const rejected = new WeakSet<Request>();

/** Whether a request has its failure already: its body may still become whole, and nothing comes of that. */
export function isRejected(request: Request): boolean {
  return rejected.has(request);
}

/** Writes the failure at once, reads on for a moment, then closes the connection (the stream, in HTTP/2). */
export function writeFailureAndClose(request: Request, response: Response, failure: Failure): void {
  writeAndClose(request, response, () => {
    const body = failureEnvelope(failure);
    setFailureHeaders(response, failure);
    setJsonHead(response, failure.kind.http, Buffer.byteLength(body));
    response.write(body);
  });
}

/** The same with a response that says how long it is, or ends by itself: the client knows that this is all. */
export function writeAndClose(request: Request, response: Response, write: () => void): void {
  if (response.headersSent) return;
  rejected.add(request);
  if (request.httpVersionMajor === 1) response.setHeader("Connection", "close");
  write();
  const timer = setTimeout(() => {
    response.end();
    // HTTP/2 keeps the connection: only the stream is closed, once its end has been sent.
    setImmediate(() => response.stream?.close());
  }, lingerMs);
  const end = (): void => {
    clearTimeout(timer);
    response.end();
  };
  request.on("end", end);
  request.on("close", end);
  request.resume();
}
