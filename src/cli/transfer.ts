// A long transfer between the command line and the service: its progress, its retries, and its end by Ctrl-C.
import { setTimeout as sleep } from "node:timers/promises";
import { onSignals } from "../process/signals.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { isTransient } from "./link.ts";
import type { Output } from "./output.ts";
import type { Progress } from "./progress.ts";
import { createProgress } from "./progress.ts";

/** A transfer under way. */
export interface Transfer {
  readonly progress: Progress;
  /** Aborted by the first Ctrl-C or SIGTERM. The second one ends the process. */
  readonly stop: AbortSignal;
  /** Returns the seconds since the transfer began. */
  seconds(): number;
  /**
   * Runs the work again while it fails with a temporary error. Rejects with the last error once the work has failed
   * `maxFailures` times or for `patienceMs` without calling `onProgress`, or when `stop` aborts.
   */
  retry<T>(work: (onProgress: () => void) => Promise<T>, options?: RetryOptions): Promise<T>;
}

interface RetryOptions {
  /** Prepares the work to start again from its beginning. Returns false if it cannot. */
  readonly restart?: () => Promise<boolean>;
  /** For work that calls `onProgress`. Other work may take longer than this before it fails. */
  readonly patienceMs?: number;
}

/** With the pauses, this is 47 seconds of failing at once. */
const maxFailures = 12;
const backoffMs = { first: 1_000, max: 5_000 };

/**
 * Runs a transfer, and shows its progress. `verb` names it there, `size` is the size of its file in bytes, if known, and
 * `onStop` is the line that follows Ctrl-C. Returns undefined if Ctrl-C ended the transfer.
 */
export async function runTransfer<T>(
  output: Output,
  { verb, size, onStop }: { readonly verb: string; readonly size?: number | undefined; readonly onStop: string },
  work: (transfer: Transfer) => Promise<T>,
): Promise<T | undefined> {
  const begunAt = performance.now();
  const progress = createProgress(output, verb, size);
  const stopping = new AbortController();
  const stop = stopping.signal;
  const forgetSignals = onSignals(
    () => {
      progress.note(onStop);
      stopping.abort();
    },
    () => {
      progress.end();
      process.exit(exitCodes.interrupted);
    },
  );
  const seconds = (): number => (performance.now() - begunAt) / 1_000;
  try {
    return await work({ progress, stop, seconds, retry: (one, options) => retry(one, progress, stop, options) });
  } catch (error) {
    if (!stop.aborted || error instanceof CommandError) throw error;
    return undefined;
  } finally {
    forgetSignals();
    progress.end();
  }
}

async function retry<T>(
  work: (onProgress: () => void) => Promise<T>,
  progress: Progress,
  stop: AbortSignal,
  { restart, patienceMs }: RetryOptions = {},
): Promise<T> {
  let failures = 0;
  let failingSince = 0;
  for (;;) {
    try {
      stop.throwIfAborted();
      return await work(() => (failures = 0));
    } catch (error) {
      if (failures === 0) failingSince = performance.now();
      const isOver =
        patienceMs === undefined ? failures + 1 === maxFailures : performance.now() - failingSince > patienceMs;
      if (stop.aborted || isOver || !isTransient(error) || (restart !== undefined && !(await restart()))) throw error;
      if (failures === 0)
        progress.note(
          `The service cannot be reached, or cannot respond. ${restart === undefined ? "Trying" : "Starting"} again …`,
        );
      await sleep(Math.min(backoffMs.first * 2 ** failures++, backoffMs.max), undefined, { signal: stop });
    }
  }
}

/**
 * Yields the messages of a stream. Cancels the call when `stop` aborts, and when the caller leaves: to await the end of
 * the stream instead would be to read the rest of it.
 */
export async function* messagesOf<T>(
  call: (options: { readonly signal: AbortSignal }) => AsyncIterable<T>,
  stop?: AbortSignal,
): AsyncGenerator<T, void> {
  const leaving = new AbortController();
  const signal = stop === undefined ? leaving.signal : AbortSignal.any([leaving.signal, stop]);
  const messages = call({ signal })[Symbol.asyncIterator]();
  try {
    for (let next = await messages.next(); next.done !== true; next = await messages.next()) yield next.value;
  } finally {
    leaving.abort();
  }
}
