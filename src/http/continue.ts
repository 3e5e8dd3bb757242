// Requests whose client waits for `100 Continue` before it sends the body (RFC 9110 §10.1.1).
import type { Request } from "./node-http.ts";

const waiting = new WeakMap<Request, () => void>();

/** Remembers that the client waits. `send` sends `100 Continue`. */
export function holdBody(request: Request, send: () => void): void {
  waiting.set(request, send);
}

/**
 * Requests the body from the client, if it waits. Call it only once the headers cannot decide the response any more.
 */
export function requestBody(request: Request): void {
  waiting.get(request)?.();
  waiting.delete(request);
}

/** Whether the client still waits, so that a rejection saves it the upload. */
export function isBodyHeld(request: Request): boolean {
  return waiting.has(request);
}
