// The log: one line of JSON for every request, by an allow-list of fields; no query, no body, no secret.
import type { DestinationStream, Logger } from "pino";
import { pino } from "pino";
import type { LogLevel } from "./config.ts";
import { loggedError } from "./logged-error.ts";
import type { RequestRecord } from "./observability/record.ts";

/** So much is written at once, and what there is after so many milliseconds: a write for each line costs a tenth of a request. */
const gathered = { minLength: 8_192, periodicFlush: 100 } as const;

/** Standard output; what is not written yet is when the process ends. */
const standardOutput = (): DestinationStream => pino.destination({ dest: 1, sync: false, ...gathered });

/** A log; the `err` of a line is told by `loggedError`, so that no line holds what a record says. */
export function createLog(level: LogLevel, to: DestinationStream = standardOutput()): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: loggedError } }, to);
}

/** The fields of a request's line; those that are undefined are left out. `ms` is in milliseconds, to the tenth. */
export function logLine(record: RequestRecord, traceId: string | undefined): object {
  const { id, listener, wire, method, route, rpc, tools, account, keyPrefix: key, status, code, ms } = record;
  return { id, listener, wire, method, route, rpc, tools: tools?.join(" "), account, key, status, code, ms: Math.round(ms * 10) / 10, trace_id: traceId };
}
