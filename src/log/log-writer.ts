// Log writer to a file descriptor: batched, and bounded in memory. A failed write never ends or delays anything. pino's
// own destination (sonic-boom 4.2) repeats a failed write for ever when the process ends, such as on a full disk.
import { write, writeSync } from "node:fs";

/**
 * A batch is written at this length in characters, or after this many milliseconds. A write for each line would take a
 * tenth of a request's time.
 */
const batch = { length: 8_192, everyMs: 100 } as const;
/** The maximum number of characters that wait while nothing can be written. Further lines are lost. */
const maxWaiting = 1_000_000;
/** The maximum time in milliseconds for which the end of the process waits for a slow reader. */
const lastMs = 500;

/** A writer of lines. */
export interface LogWriter {
  write(line: string): void;
  /** Writes the waiting lines before the process ends. Gives up if they cannot be written. */
  flushSync(): void;
}

/**
 * Creates a writer to `fd`. Passes a line to `report` when lines may be lost, and another once all waiting lines are
 * written again.
 */
export function createLogWriter(fd: number, report: (line: string) => void): LogWriter {
  const losses = createLosses(report);
  let waiting = "";
  /** The rest of the batch that is being written. After a failure, the next write continues at the next byte. */
  let left = Buffer.alloc(0);
  let writing = false;
  /** True after a failed write. The next attempt then waits for the interval, and is not made with every line. */
  let failing = false;

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
      if (error !== null) return error.code === "EAGAIN" ? undefined : losses.begin(error.code);
      left = left.subarray(written);
      if (left.length > 0 || waiting.length >= batch.length) flush();
      else losses.end();
    });
  }

  setInterval(flush, batch.everyMs).unref();
  return {
    write(line) {
      if (waiting.length + left.length + line.length > maxWaiting) return losses.add();
      waiting += line;
      if (waiting.length >= batch.length && !failing) flush();
    },
    flushSync() {
      // The write under way is completed by its own thread.
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

/** Counts the lines that are lost while a log cannot be written. */
interface Losses {
  begin(code?: string): void;
  /** Counts one more lost line. */
  add(): void;
  end(): void;
}

function createLosses(report: (line: string) => void): Losses {
  /** The number of lines lost since the failure; undefined if there is none. */
  let lost: number | undefined;
  function begin(code = "its reader is too slow"): void {
    if (lost !== undefined) return;
    lost = 0;
    report(
      `the log cannot be written to standard output (${code}): the service continues, and lines can be lost. Free disk space, or read the output.`,
    );
  }
  return {
    begin,
    add() {
      begin();
      lost = (lost ?? 0) + 1;
    },
    end() {
      if (lost !== undefined) report(`the log is written again; lines that were lost: ${lost}.`);
      lost = undefined;
    },
  };
}
