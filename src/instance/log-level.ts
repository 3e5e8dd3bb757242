// Changes the log level at run time.
import type { Logger } from "pino";
import type { LogLevel } from "../config/config.ts";

/**
 * Sets the level and returns the previous one. Logs the change with the fields of `who` while the more verbose of the
 * two levels applies.
 */
export function setLogLevel(log: Logger, to: LogLevel, who: object): string {
  const from = log.level;
  if (to === from) return from;
  const report = (): void => log.warn({ from, to, ...who }, "log level changed");
  const isQuieter = (log.levels.values[to] ?? Infinity) > log.levelVal;
  if (isQuieter) report();
  log.level = to;
  if (!isQuieter) report();
  return from;
}
