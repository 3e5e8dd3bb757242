// Requests whose client waits for `100 Continue` before it sends the body (RFC 9110 §10.1.1).
import type { Request } from "./http.ts";

const waiting = new WeakMap<Request, () => void>();

/** Remembers that the client waits. `ask` sends `100 Continue`. */
export function holdBody(request: Request, ask: () => void): void {
  waiting.set(request, ask);
}

/** Asks the client for the body, if it waits. Call it only once the headers cannot decide the response any more. */
export function askForBody(request: Request): void {
  waiting.get(request)?.();
  waiting.delete(request);
}

/** Whether the client still waits, so that a rejection saves it the upload. */
export function isBodyHeld(request: Request): boolean {
  return waiting.has(request);
}
