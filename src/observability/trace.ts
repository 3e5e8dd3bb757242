// Tracing interface of the service. Its implementation is loaded only if a trace collector is configured.
import type { ListenerOptions } from "../call/exchange.ts";
import type { CommandObserver } from "./commands.ts";
import type { RequestRecord } from "./record.ts";

/** The span of one request. */
export interface RequestTrace {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** Names the span from the finished request, and ends it. */
  end(record: RequestRecord, httpVersion: string): void;
}

/** Creates spans for requests and the commands that they cause. */
export interface Tracing {
  /** Returns options with which a listener runs each request in its own span, a child of the caller's `traceparent`. */
  around(options: ListenerOptions): ListenerOptions;
  /** Returns the span of the current request; undefined outside a request. */
  enter(requestId: string): RequestTrace | undefined;
  /** Creates a child span for each command that a request causes. */
  readonly commands: CommandObserver;
  /**
   * Returns headers that link a call to another service with the request that causes it: `traceparent`, `tracestate`,
   * `X-Request-Id`. Returns no headers outside a request.
   */
  outgoing(): Record<string, string>;
  /** Sends the remaining spans within two seconds. Never rejects. */
  close(): Promise<void>;
}
