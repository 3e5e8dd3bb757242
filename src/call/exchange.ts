// What a listener and its surfaces share: requests, responses, and what becomes of those that cannot be served.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Inbound } from "./dispatch.ts";

/** A request and a response of either version: those of HTTP/2 have the interface of HTTP/1.1. */
export type Request = IncomingMessage;
export type Response = ServerResponse;

/** What serves some paths. */
export interface Surface {
  serves(path: string): boolean;
  /**
   * The template of a path that it serves, where that may hold what a caller chooses; the path itself where it is not
   * said.
   */
  routeOf?(path: string): string;
  /** Never rejects. */
  handle(path: string, request: Request, response: Response, inbound: Inbound): Promise<void>;
}

/** What a listener does with requests, and with what the HTTP parser rejects by itself. */
export interface ListenerOptions {
  handle(request: Request, response: Response): void;
  /** The whole HTTP/1.1 response for a message that was rejected with this status. */
  rejectMessage(status: RejectedStatus): string;
  /** Rejects an `Expect` that is not understood: 417. */
  rejectExpectation(request: Request, response: Response): void;
  /**
   * Rejects a request over HTTP/2 that has not come whole in time, with 408; undefined where a request may last, as a
   * stream does.
   */
  readonly rejectSlow: ((request: Request, response: Response) => void) | undefined;
}

export type RejectedStatus = 400 | 408 | 431;
