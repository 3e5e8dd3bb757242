// The log: one line of JSON for every request, by an allow-list of fields; no query, no body, no secret.
import type { Logger } from "pino";
import { pino } from "pino";
import type { LogLevel } from "./config.ts";
import type { RequestRecord } from "./observability/record.ts";

/** So much is written at once, and what there is after so many milliseconds: a write for each line costs a tenth of a request. */
const gathered = { minLength: 8_192, periodicFlush: 100 } as const;

/** A log that writes to standard output; what is not written yet is when the process ends. */
export function createLog(level: LogLevel): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ dest: 1, sync: false, ...gathered }));
}

/** The fields of a request's line; those that are undefined are left out. `ms` is in milliseconds, to the tenth. */
export function logLine(record: RequestRecord, traceId: string | undefined): object {
  const { id, listener, wire, method, route, rpc, tools, account, keyPrefix: key, status, code, ms } = record;
  return { id, listener, wire, method, route, rpc, tools: tools?.join(" "), account, key, status, code, ms: Math.round(ms * 10) / 10, trace_id: traceId };
}
