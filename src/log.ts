// The log: one line for every request, by an allow-list of fields; no query, no body, no secret. JSON, or readable on a
// terminal.
import type { DestinationStream, Logger } from "pino";
import { pino } from "pino";
import { wideNetworkOf } from "./address.ts";
import type { LogAddresses, LogLevel } from "./config.ts";
import { loggedError } from "./logged-error.ts";
import type { RequestRecord } from "./observability/record.ts";
import { readableLine } from "./readable-log.ts";
import type { Spent, Tally } from "./tally.ts";
import { spentOn } from "./tally.ts";

/**
 * So much is written at once, and what there is after so many milliseconds: a write for each line costs a tenth of a
 * request.
 */
const buffered = { minLength: 8_192, periodicFlush: 100 } as const;

/** Standard output, readable where it is a terminal; what is not written yet is when the process ends. */
function standardOutput(): DestinationStream {
  if (!process.stdout.isTTY) return pino.destination({ dest: 1, sync: false, ...buffered });
  const colored = process.stdout.hasColors();
  return {
    write(json) {
      const line = readableLine(json, colored);
      if (line !== undefined) process.stdout.write(`${line}\n`);
    },
  };
}

/** How the `address` of a line is shown. */
const shownAddress: Readonly<Record<LogAddresses, (address: string) => string | undefined>> = {
  full: (address) => address,
  truncated: wideNetworkOf,
  none: () => undefined,
};

/** A log; `loggedError` serializes the `err` of a line, so that no line contains the text of a record. */
export function createLog(
  level: LogLevel,
  to: DestinationStream = standardOutput(),
  addresses: LogAddresses = "full",
): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: loggedError, address: shownAddress[addresses] },
    },
    to,
  );
}

/** The fields of a request's line; those that are undefined are left out. Times are in milliseconds, to the tenth. */
export function logLine(record: RequestRecord, traceId: string | undefined): object {
  const {
    id,
    listener,
    wire,
    method,
    route,
    rpc,
    tools,
    account,
    keyPrefix: key,
    serviceToken,
    address,
    status,
    code,
    cause,
    waitingFor,
    ms,
    tally,
  } = record;
  return {
    ...{
      id,
      listener,
      wire,
      method,
      route,
      rpc,
      tools: tools?.join(" "),
      account,
      key,
      service_token: serviceToken,
      address,
      status,
      code,
      cause,
      waiting_for: waitingFor,
    },
    ms: tenth(ms),
    ...(tally === undefined
      ? {}
      : {
          queue_ms: spent(tally, "queueMs"),
          redis_ms: spent(tally, "redisMs"),
          provider_ms: spent(tally, "providerMs"),
        }),
    ...(tally === undefined
      ? {}
      : { db_ms: spent(tally, "dbMs"), db_commands: tally.dbCommands || undefined, rows: tally.rows }),
    trace_id: traceId,
  };
}

/** Undefined where nothing was spent, so that short requests have short lines. */
function spent(tally: Tally, kind: Spent): number | undefined {
  const ms = spentOn(tally, kind);
  return ms === 0 ? undefined : tenth(ms);
}

function tenth(ms: number): number {
  return Math.round(ms * 10) / 10;
}
