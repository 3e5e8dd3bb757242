// The log: one line of JSON for every request, by an allow-list of fields; no query, no body, no secret.
import type { Logger } from "pino";
import { pino } from "pino";
import type { LogLevel } from "./config.ts";
import type { RequestRecord } from "./observability/record.ts";

/** A log that writes to standard output. */
export function createLog(level: LogLevel): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime });
}

/** The fields of a request's line; those that are undefined are left out. `ms` is in milliseconds, to the tenth. */
export function logLine(record: RequestRecord, traceId: string | undefined): object {
  const { id, listener, wire, method, route, rpc, tools, account, keyPrefix: key, status, code, ms } = record;
  return { id, listener, wire, method, route, rpc, tools: tools?.join(" "), account, key, status, code, ms: Math.round(ms * 10) / 10, trace_id: traceId };
}
