// Early responses to clients that are still sending: closing a connection with unread input could lose the response
// (RFC 9112 §9.6).
import type { Failure } from "../call/errors.ts";
import type { Request, Response } from "./node-http.ts";
import { failureEnvelope, setFailureHeaders, setJsonHead } from "./response.ts";

/**
 * The time in milliseconds for which input is read and discarded after a request is rejected. Without it, the client
 * would not see the response.
 */
export const lingerMs = 1_000;

const rejected = new WeakSet<Request>();

/** Whether a request was already rejected. Its body may still arrive completely, and is then ignored. */
export function isRejected(request: Request): boolean {
  return rejected.has(request);
}

const sent = new WeakSet<Response>();

/** Whether a failure was sent whole. Its response ends later, and never if the client closes the connection first. */
export function wasSentWhole(response: Response): boolean {
  return sent.has(response);
}

/**
 * Announces that the connection closes after the response. From then on, no request that was sent behind it begins
 * (HTTP/1.1).
 */
export function announceClose(request: Request, response: Response): void {
  if (request.httpVersionMajor === 1) response.setHeader("Connection", "close");
}

/**
 * Writes the failure at once, and discards input until the request ends or `lingerMs` has passed. Then closes the
 * connection, or the stream in HTTP/2.
 */
export function writeFailureAndClose(request: Request, response: Response, failure: Failure): void {
  writeAndClose(request, response, () => {
    const body = failureEnvelope(failure);
    setFailureHeaders(response, failure);
    setJsonHead(response, failure.kind.http, Buffer.byteLength(body));
    response.write(body, (error) => {
      if (error == null) sent.add(response);
    });
  });
}

/**
 * Writes a response through `write`, then discards input and closes as `writeFailureAndClose` does. The response must
 * declare its length or end by itself, so that the client recognizes its end.
 */
export function writeAndClose(request: Request, response: Response, write: () => void): void {
  if (response.headersSent) return;
  rejected.add(request);
  announceClose(request, response);
  write();
  const timer = setTimeout(() => {
    response.end();
    // In HTTP/2, only the stream is closed.
    if (response.stream !== undefined) closeSent(response.stream);
  }, lingerMs);
  const end = (): void => {
    clearTimeout(timer);
    response.end();
  };
  request.on("end", end);
  request.on("close", end);
  request.resume();
}

/**
 * Closes a stream of HTTP/2 after its end has been sent. The reset would overtake what is still to be sent, and a gRPC
 * client would lose its status.
 */
export function closeSent(stream: NonNullable<Response["stream"]>): void {
  // Node writes frames in an immediate, and the first of these two may be what adds the trailers.
  const close = (): void => void setImmediate(() => setImmediate(() => stream.close()));
  if (stream.writableFinished) close();
  else stream.once("finish", close);
}
