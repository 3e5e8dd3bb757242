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

/** Writes to `fd`. `report` gets a line when lines may be lost, and one when all that waited is written again. */
export function createLogWriter(fd: number, report: (line: string) => void): LogWriter {
  const losses = createLosses(report);
  let waiting = "";
  /** What is left of the batch that is being written: after a failure it continues at the byte that comes next. */
  let left = Buffer.alloc(0);
  let writing = false;
  /** Since a write failed: the next one is made after a while, and not with every line. */
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
      if (waiting.length + left.length + line.length > mostWaiting) return losses.add();
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

/** Lines that are lost while a log cannot be written. */
interface Losses {
  begin(code?: string): void;
  /** Counts one more. */
  add(): void;
  end(): void;
}

function createLosses(report: (line: string) => void): Losses {
  /** How many, since they began. */
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
