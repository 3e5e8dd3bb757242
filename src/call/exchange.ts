// The types that a listener and its surfaces share: requests, responses, and handlers for rejected requests.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import type { Inbound } from "./dispatch.ts";

/** A request of either HTTP version. Requests and responses of HTTP/2 have the interface of HTTP/1.1. */
export type Request = IncomingMessage;
export type Response = ServerResponse;

/** What a request says before its body. A request is also its own head. */
export interface Head {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly httpVersionMajor: number;
  /** The connection, in HTTP/1.1. */
  readonly socket?: { readonly remoteAddress?: string | undefined };
  /** HTTP/2 only. */
  readonly stream?: ServerHttp2Stream;
}

/** A response that is known from the head of its request. */
export interface HeadResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined for a gRPC status, which is in the headers. */
  readonly body: string | Buffer | undefined;
}

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
   * Returns the response that rejects a request at once, or a function that writes it. Returns undefined if the request
   * may be handled. It is called when the request arrives, before it waits for anything. If it has to wait for its turn,
   * `onTurn` sets what to call then, and again when its stream closes.
   */
  shed?(head: Head, onTurn?: (leave: () => void) => void): HeadResponse | ListenerOptions["handle"] | undefined;
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
