// Batch writer: collects items that no request waits for, and writes them together.
import { withTimeout } from "../call/time-limit.ts";

/** A queue of items to write. */
export interface BatchWriter<T> {
  /** Adds an item, which is written together with others. */
  add(item: T): void;
  /** Writes all queued items, and waits for writes under way. Rejects if the items cannot be written now. */
  flush(): Promise<void>;
  /**
   * Stops the writer: tries to write the queued items until `until`, in milliseconds of `performance.now()`, and gives
   * up the rest. Never rejects. Items added afterwards are lost.
   */
  close(until: number): Promise<void>;
}

/** Longer than an election, and shorter than the time for which an account's erasure waits for late writes. */
const keptMs = 20_000;
/** Bounds the queue while MongoDB is unavailable. */
const maxWaiting = 10_000;
/** The pause between attempts during a stop. Without a primary, each attempt fails at once. */
const betweenTriesMs = 200;
/** The minimum time for an attempt during a stop, even if the last requests used up the grace period. */
const minTryMs = 1_000;

/**
 * Creates a writer that collects items for `afterMs`. Failed items are retried for 20 seconds and then given up, so
 * `write` must be idempotent. `onLost` is called with the error when items are given up.
 */
export function createBatchWriter<T>(
  afterMs: number,
  write: (items: readonly T[]) => Promise<unknown>,
  onLost: (error: unknown) => void,
): BatchWriter<T> {
  let waiting: { readonly item: T; readonly since: number }[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let closed = false;

  function writeSoon(): void {
    timer ??= setTimeout(() => void flush().catch(() => undefined), afterMs).unref();
  }

  async function writeWaiting(): Promise<void> {
    const taken = waiting;
    waiting = [];
    if (taken.length === 0) return;
    try {
      await write(taken.map(({ item }) => item));
    } catch (error) {
      // `close` has already given up and reported these items.
      if (closed) throw error;
      const now = performance.now();
      const all = taken.length + waiting.length;
      waiting = [...taken.filter(({ since }) => now - since < keptMs), ...waiting].slice(-maxWaiting);
      if (waiting.length < all) onLost(error);
      if (waiting.length > 0) writeSoon();
      throw error;
    }
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.catch(() => undefined).then(writeWaiting);
    return writing;
  }

  return {
    add(item) {
      if (closed) return onLost(new Error("added after the stop"));
      waiting.push({ item, since: performance.now() });
      writeSoon();
    },
    flush,
    async close(until) {
      // Items that were given up because of their age are already reported.
      const error = await tryUntil(until, () =>
        flush().catch((why: unknown) => (waiting.length === 0 ? undefined : why)),
      );
      closed = true;
      waiting = [];
      clearTimeout(timer);
      if (error !== undefined) onLost(error);
    },
  };
}

/** Repeats `attempt` until it returns undefined or the time is over. Returns the result of the last attempt. */
async function tryUntil(until: number, attempt: () => Promise<unknown>): Promise<unknown> {
  for (;;) {
    const left = Math.max(minTryMs, until - performance.now());
    const error = await withTimeout(left, attempt(), () => new Error("no response in time"));
    if (error === undefined || performance.now() + betweenTriesMs >= until) return error;
    await new Promise((resolve) => setTimeout(resolve, betweenTriesMs));
  }
}
