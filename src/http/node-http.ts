// The parts of the requests and responses of HTTP/1.1 and HTTP/2 in Node that the surfaces use.
import type { IncomingHttpHeaders } from "node:http";

/** `http.IncomingMessage` or `http2.Http2ServerRequest`. */
export interface Request {
  readonly method?: string | undefined;
  /** The request target as sent. */
  readonly url?: string | undefined;
  readonly httpVersionMajor: number;
  readonly headers: IncomingHttpHeaders;
  /** True once the client has left during the exchange. */
  readonly aborted: boolean;
  /** True once nothing more can be read (HTTP/1.1). */
  readonly destroyed: boolean;
  /** HTTP/1.1 only. */
  readonly socket: { readonly destroyed: boolean; pause(): unknown; resume(): unknown };
  on(event: "data", listener: (chunk: Buffer) => void): unknown;
  on(event: "end" | "close", listener: () => void): unknown;
  removeAllListeners(event: "data"): unknown;
  resume(): unknown;
}

/** `http.ServerResponse` or `http2.Http2ServerResponse`. */
export interface Response {
  readonly headersSent: boolean;
  statusCode: number;
  getHeader(name: string): string | number | string[] | undefined;
  setHeader(name: string, value: string | number): unknown;
  write(piece: string | Uint8Array, onSent?: (error: Error | null | undefined) => void): unknown;
  /** HTTP/1.1 only. */
  uncork(): void;
  end(body?: string | Uint8Array): unknown;
  on(event: "drain" | "close", listener: () => void): unknown;
  removeListener(event: "drain" | "close", listener: () => void): unknown;
  /** HTTP/2 only. */
  readonly stream?: {
    readonly destroyed: boolean;
    readonly writableFinished: boolean;
    close(): void;
    once(event: "finish", listener: () => void): unknown;
  };
}
