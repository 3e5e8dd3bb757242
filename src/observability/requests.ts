// Observes each request until the end of its response, and then writes its log line, metrics and span.
import type { Logger } from "pino";
import type { RecentRequest } from "../accounts/usage.ts";
import type { Head, Limited, RejectedStatus, Request, Response } from "../call/exchange.ts";
import type { Failure } from "../call/errors.ts";
import type { Inbound } from "../call/dispatch.ts";
import { logLine } from "./log-line.ts";
import type { Metrics } from "./metrics.ts";
import type { ListenerName, RequestRecord, Wire } from "./record.ts";
import { isProbe, methodOf, recordOf, wireOfShed } from "./record.ts";
import { parseTraceParent } from "./trace-parent.ts";
import type { Tracing } from "./tracing.ts";

/** Counts a finished request that used the API key or an assistant of the account with this id. */
export type CountUse = (account: string, request: RecentRequest) => void;

/** The callbacks with which a listener reports its requests. */
export type RequestWatch = ReturnType<typeof watchRequests>;

/** Creates the callbacks with which a listener reports its requests. `tracing` is undefined if tracing is off. */
export function watchRequests(
  listener: ListenerName,
  log: Logger,
  metrics: Metrics,
  tracing: Tracing | undefined,
  countUse: CountUse = () => undefined,
) {
  const failing = new Set<string>();

  /** Probes arrive every few seconds, so only a change of their outcome is logged above debug. */
  function levelOf(record: RequestRecord): "debug" | "info" | "warn" {
    if (!isProbe(record)) return "info";
    const [before, now] = [failing.has(record.route), record.outcome >= 500];
    if (now) failing.add(record.route);
    else failing.delete(record.route);
    if (before === now) return "debug";
    return now ? "warn" : "info";
  }

  const countShed = countsEachSecond((counts) => {
    const rejected: Record<string, number> = {};
    for (const { status, method, wire, count } of counts) {
      metrics.shed({ listener, wire, method, status }, count);
      rejected[`rejected_${status}`] = (rejected[`rejected_${status}`] ?? 0) + count;
    }
    log.warn({ listener, ...rejected }, "requests were rejected at once, without a line for each");
  });

  return {
    /** Called when a request is rejected before anything else is done for it. */
    logShed(head: Head, { kind: { http } }: Failure) {
      countShed(http, methodOf(head), wireOfShed(head));
    },
    /** Called when a connection or a stream is rejected. */
    onLimit: (what: Limited) => metrics.limited(listener, what),
    /** Called when a request arrives. */
    log(request: Request, response: Response, inbound: Inbound) {
      metrics.begin(listener);
      const trace = tracing?.enter(inbound.requestId);
      response.once("close", () => {
        const record = recordOf(listener, request, response, inbound);
        metrics.end(record);
        const { account, keyPrefix, wire } = record;
        if (account !== undefined && (keyPrefix !== undefined || wire === "mcp")) countUse(account, recentOf(record));
        trace?.end(record, request.httpVersion);
        const level = levelOf(record);
        if (log.isLevelEnabled(level))
          log[level](
            logLine(record, trace?.traceId ?? parseTraceParent(inbound.header("traceparent"))?.traceId),
            "request",
          );
      });
    },
    /** Called when the HTTP parser rejects a message. There is no request to report then. */
    logRejected(status: RejectedStatus, id: string) {
      metrics.rejected(listener, status);
      log.info({ id, listener, status }, "an HTTP message was rejected");
    },
  };
}

function recentOf({ id, method, route, tools, outcome: status, ms }: RequestRecord): RecentRequest {
  const called = tools === undefined ? route : `${route} ${tools}`;
  return { id, at: new Date(Date.now() - ms), method, route: called, status, ms: Math.round(ms) };
}

/** How often rejections at once are reported, in milliseconds: to report each would cost as much as to reject it. */
const shedReportMs = 1_000;

/** How many requests of a kind were rejected at once. */
interface ShedCount {
  readonly status: number;
  readonly method: string;
  readonly wire: Wire;
  count: number;
}

/** Returns a function that counts rejections. `report` is called with the counts once a second. */
function countsEachSecond(
  report: (counts: readonly ShedCount[]) => void,
): (status: number, method: string, wire: Wire) => void {
  let counts: ShedCount[] = [];
  return (status, method, wire) => {
    if (counts.length === 0)
      setTimeout(() => {
        report(counts);
        counts = [];
      }, shedReportMs).unref();
    const same = counts.find((one) => one.status === status && one.method === method && one.wire === wire);
    if (same === undefined) counts.push({ status, method, wire, count: 1 });
    else same.count += 1;
  };
}
