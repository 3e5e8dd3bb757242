// Level of the log at run time.
import type { Logger } from "pino";
import type { LogLevel } from "../config.ts";

/** Sets the level and returns the one before. The log names `who` did, at whichever of both levels shows more. */
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
