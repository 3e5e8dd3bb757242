// The log: JSON, or readable text on a terminal. Every request has one line of allow-listed fields, without its query,
// its body or secrets.
import type { DestinationStream, Logger } from "pino";
import { pino } from "pino";
import { wideNetworkOf } from "../config/address.ts";
import type { LogAddresses, LogLevel } from "../config/config.ts";
import { loggedError } from "./logged-error.ts";
import { createLogWriter } from "./log-writer.ts";
import { readableLine } from "./readable-log.ts";

/**
 * Returns standard output, in readable form on a terminal. Otherwise, the waiting lines are written when the process
 * ends.
 */
function standardOutput(): DestinationStream {
  if (!process.stdout.isTTY) {
    const writer = createLogWriter(1, (line) => process.stderr.write(`records: ${line}\n`));
    process.on("exit", () => writer.flushSync());
    return writer;
  }
  const colored = process.stdout.hasColors();
  return {
    write(json) {
      const line = readableLine(json, colored);
      if (line !== undefined) process.stdout.write(`${line}\n`);
    },
  };
}

/** Formats the `address` of a line; undefined leaves it out. */
const shownAddress: Readonly<Record<LogAddresses, (address: string) => string | undefined>> = {
  full: (address) => address,
  truncated: wideNetworkOf,
  none: () => undefined,
};

/** Creates a log. `loggedError` serializes the `err` of a line, so that no line contains the text of a record. */
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
