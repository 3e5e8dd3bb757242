// Writer of the log to a file descriptor: in batches and bounded. What cannot be written never ends or delays anything.
import { write, writeSync } from "node:fs";

/**
 * So many characters are written at once, and what there is after so many milliseconds: a write for each line costs a
 * tenth of a request.
 */
const batch = { length: 8_192, everyMs: 100 } as const;
/** So much waits while nothing can be written; lines beyond it are lost. */
const mostWaiting = 1_000_000;
/** For so long the end of the process waits for a reader that is slow. */
const lastMs = 500;

/** A writer of lines. */
export interface LogWriter {
  write(line: string): void;
  /** Writes what waits, before the process ends; gives up where it cannot be written. */
  flushSync(): void;
}

/** Writes to `fd`. `report` gets a line when lines begin to be lost or may be, and one when all are written again. */
export function createLogWriter(fd: number, report: (line: string) => void): LogWriter {
  let waiting = "";
  /** What is left of the batch that is being written: after a failure it continues at the byte that comes next. */
  let left = Buffer.alloc(0);
  let writing = false;
  /** Since a write failed: the next one is made after a while, and not with every line. */
  let failing = false;
  let reported = false;
  let lost = 0;

  function nextBatch(): boolean {
    if (left.length === 0 && waiting !== "") {
      left = Buffer.from(waiting);
      waiting = "";
    }
    return left.length > 0;
  }

  function flush(): void {
    if (writing || !nextBatch()) return;
    writing = true;
    write(fd, left, (error, written) => {
      writing = false;
      failing = error !== null;
      // EAGAIN: the reader is slow, and nothing is lost as long as there is room.
      if (error !== null) return error.code === "EAGAIN" ? undefined : warn(error.code);
      left = left.subarray(written);
      if (left.length > 0 || waiting.length >= batch.length) flush();
      else if (reported) recovered();
    });
  }

  function warn(code = "its reader is too slow"): void {
    if (reported) return;
    reported = true;
    report(
      `the log cannot be written to standard output (${code}): the service continues, and lines can be lost. Free disk space, or read the output.`,
    );
  }

  function recovered(): void {
    report(`the log is written again; lines that were lost: ${lost}.`);
    reported = false;
    lost = 0;
  }

  setInterval(flush, batch.everyMs).unref();
  return {
    write(line) {
      if (waiting.length + left.length + line.length > mostWaiting) {
        lost++;
        return warn();
      }
      waiting += line;
      if (waiting.length >= batch.length && !failing) flush();
    },
    flushSync() {
      // What is being written is written by its own thread.
      if (writing) left = Buffer.alloc(0);
      for (const until = performance.now() + lastMs; nextBatch(); )
        try {
          left = left.subarray(writeSync(fd, left));
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== "EAGAIN" || performance.now() > until) return;
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
        }
    },
  };
}
