// Follows each request from its head to the end of its response, and then writes its log line, its numbers and its
// span.
import type { Logger } from "pino";
import type { RejectedStatus, Request, Response } from "../call/exchange.ts";
import type { Inbound } from "../call/dispatch.ts";
import { logLine } from "./log-line.ts";
import type { Metrics } from "./metrics.ts";
import type { ListenerName, RequestRecord } from "./record.ts";
import { isProbe, recordOf } from "./record.ts";
import { parseTraceParent } from "./trace-parent.ts";
import type { Tracing } from "./trace.ts";

/** What a listener reports of its requests. */
export interface RequestWatch {
  /** A request has come in. */
  readonly log: (request: Request, response: Response, inbound: Inbound) => void;
  /** The HTTP parser rejected a message: there is no request to report. */
  readonly logRejected: (status: RejectedStatus, requestId: string) => void;
}

/** Follows the requests of a listener; `tracing` is undefined where nothing is traced. */
export function watchRequests(
  listener: ListenerName,
  log: Logger,
  metrics: Metrics,
  tracing: Tracing | undefined,
): RequestWatch {
  const failing = new Set<string>();

  /** Probes come every few seconds: only one with another outcome than the one before is of interest. */
  function levelOf(record: RequestRecord): "debug" | "info" | "warn" {
    if (!isProbe(record)) return "info";
    const [before, now] = [failing.has(record.route), record.outcome >= 500];
    if (now) failing.add(record.route);
    else failing.delete(record.route);
    if (before === now) return "debug";
    return now ? "warn" : "info";
  }

  return {
    log(request, response, inbound) {
      metrics.begin(listener);
      const trace = tracing?.enter(inbound.requestId);
      response.once("close", () => {
        const record = recordOf(listener, request, response, inbound);
        metrics.end(record);
        trace?.end(record, request.httpVersion);
        const level = levelOf(record);
        if (log.isLevelEnabled(level))
          log[level](
            logLine(record, trace?.traceId ?? parseTraceParent(inbound.header("traceparent"))?.traceId),
            "request",
          );
      });
    },
    logRejected(status, id) {
      metrics.rejected(listener, status);
      log.info({ id, listener, status }, "refused");
    },
  };
}
