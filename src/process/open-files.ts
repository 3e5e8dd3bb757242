// The limit of open files of this process, and whether it is reached: connections are then closed without an event.
import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";

/** Enough for the connections that a listener accepts, and for those to the dependencies. */
const neededFiles = 10_500;
const everyMs = 1_000;

/** Whether this process can open files and connections. */
export interface OpenFiles {
  areLeft(): boolean;
  stop(): void;
}

/** What an operator does about the limit. */
export const raiseLimit = `Raise it to ${neededFiles} or more (ulimit -n, or LimitNOFILE of systemd), and restart.`;

/** Returns the limit of open files, which Node raises as far as the system lets it; undefined if there is none. */
export function openFilesLimit(): number | undefined {
  const { stackTraceLimit } = Error;
  // A report has a stack trace, for which Node would read the source map: a tenth of a start.
  Error.stackTraceLimit = 0;
  const report = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
  Error.stackTraceLimit = stackTraceLimit;
  const soft = report.userLimits?.open_files?.soft;
  return typeof soft === "number" ? soft : undefined;
}

/** Whether the limit is lower than an instance needs for all connections that it accepts. */
export function isLow(limit: number | undefined): limit is number {
  return limit !== undefined && limit < neededFiles;
}

/** Opens a file every second. Calls `onChange` when that begins to fail for want of a descriptor, and when it ends. */
export function watchOpenFiles(onChange: (areLeft: boolean, error?: unknown) => void): OpenFiles {
  let areLeft = true;
  const note = (now: boolean, error?: unknown): void => {
    if (now === areLeft) return;
    areLeft = now;
    onChange(now, error);
  };
  const timer = setInterval(() => {
    try {
      closeSync(openSync(devNull, "r"));
      note(true);
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      if (code === "EMFILE" || code === "ENFILE") note(false, error);
    }
  }, everyMs).unref();
  return { areLeft: () => areLeft, stop: () => clearInterval(timer) };
}
