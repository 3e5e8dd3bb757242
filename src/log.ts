// The log: one line for every request, by an allow-list of fields; no query, no body, no secret. JSON, or readable on a
// terminal.
import type { DestinationStream, Logger } from "pino";
import { pino } from "pino";
import { wideNetworkOf } from "./address.ts";
import type { LogAddresses, LogLevel } from "./config.ts";
import { loggedError } from "./logged-error.ts";
import { readableLine } from "./readable-log.ts";

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
