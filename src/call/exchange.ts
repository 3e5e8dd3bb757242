// The types that a listener and its surfaces share: requests, responses, and handlers for rejected requests.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Inbound } from "./dispatch.ts";

/** A request of either HTTP version. Requests and responses of HTTP/2 have the interface of HTTP/1.1. */
export type Request = IncomingMessage;
export type Response = ServerResponse;

/** Serves the requests for some paths. */
export interface Surface {
  serves(path: string): boolean;
  /**
   * Returns the template of a served path that may contain text of the caller's choice. Without this method, the
   * template is the path itself.
   */
  routeOf?(path: string): string;
  /** Never rejects. */
  handle(path: string, request: Request, response: Response, inbound: Inbound): Promise<void>;
}

/** Handles the requests of a listener, and the messages that its HTTP parser rejects. */
export interface ListenerOptions {
  /**
   * Returns a function that rejects the request at once, or undefined if it may be handled. It is called when the
   * request arrives, before it waits for anything. If it has to wait for its turn, `onTurn` sets what to call then, and
   * again when its stream closes.
   */
  shed?(request: Request, onTurn?: (leave: () => void) => void): ((response: Response) => void) | undefined;
  handle(request: Request, response: Response): void;
  /** Returns the whole HTTP/1.1 response for a message that was rejected with this status, and this message if given. */
  rejectMessage(status: RejectedStatus, message?: string): string;
  /** Rejects an unsupported `Expect` with 417. */
  rejectExpectation(request: Request, response: Response): void;
  /**
   * Rejects with 408 a request over HTTP/2 that did not arrive completely in time. Undefined if a request may last, as
   * a stream does.
   */
  readonly rejectSlow: ((request: Request, response: Response) => void) | undefined;
  /** Whether each peer is a client, which gets only a share of the listener. False for a proxy. */
  readonly peersAreClients: boolean;
  /** Called for each connection and each HTTP/2 stream that is rejected because too many are open. */
  readonly onLimit: (what: Limited) => void;
}

export type Limited = "connection" | "stream";

export type RejectedStatus = 400 | 408 | 431;
