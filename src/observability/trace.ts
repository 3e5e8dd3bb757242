// Tracing interface of the service; its implementation is loaded only where a collector is configured.
import type { ListenerOptions } from "../call/exchange.ts";
import type { CommandObserver } from "./commands.ts";
import type { RequestRecord } from "./record.ts";

/** The span of one request. */
export interface RequestTrace {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** Names the span by what the request turned out to be, and ends it. */
  end(record: RequestRecord, httpVersion: string): void;
}

/** Spans of requests and of what they cause. */
export interface Tracing {
  /** A listener whose requests each run in a span of their own, a child of the caller's `traceparent`. */
  around(options: ListenerOptions): ListenerOptions;
  /** The span of the request that is being handled. */
  enter(requestId: string): RequestTrace | undefined;
  /** A child span for each command that a request causes. */
  readonly commands: CommandObserver;
  /**
   * The headers of a call to another service, so that it belongs to the request that causes it: `traceparent`,
   * `tracestate`, `X-Request-Id`.
   */
  outgoing(): Record<string, string>;
  /** Sends what is still here; waits no longer than two seconds. */
  close(): Promise<void>;
}
