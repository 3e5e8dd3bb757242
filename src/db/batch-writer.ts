// Writes that nobody waits for: collected for a short time, then written together.
import { orAfter } from "../time-limit.ts";

/** What is collected and not yet written. */
export interface BatchWriter<T> {
  /** Takes an item; it is written with others of the moment. */
  add(item: T): void;
  /** Writes what waits, and waits for what is on its way. Rejects when that cannot be written now. */
  flush(): Promise<void>;
  /**
   * For a stop: tries to write what waits until `until`, in milliseconds of `performance.now()`, and gives up the rest.
   * Never rejects. What is added afterwards is lost.
   */
  close(until: number): Promise<void>;
}

/** Longer than an election takes, and less than the erasure of an account waits for what its last requests write. */
const keptMs = 20_000;
/** Nothing is collected without bound while MongoDB is away. */
const most = 10_000;
/** Between two tries of a stop: without a primary, each is rejected at once. */
const betweenTriesMs = 200;
/** A stop always has this long for a try, even where its last requests took all of its grace. */
const leastTryMs = 1_000;

/**
 * Collects for `afterMs`. What cannot be written is tried again for 20 seconds and given up then, so `write` must be
 * one that may be done twice. `onLost` gets what was given up.
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
      // Given up, and reported, while this was on its way.
      if (closed) throw error;
      const now = performance.now();
      const all = taken.length + waiting.length;
      waiting = [...taken.filter(({ since }) => now - since < keptMs), ...waiting].slice(-most);
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
      // Items that were given up for their age are reported already.
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

/** Tries until that gives undefined or the time is over. Resolves with what the last try gave. */
async function tryUntil(until: number, attempt: () => Promise<unknown>): Promise<unknown> {
  for (;;) {
    const left = Math.max(leastTryMs, until - performance.now());
    const error = await orAfter(left, attempt(), () => new Error("no response in time"));
    if (error === undefined || performance.now() + betweenTriesMs >= until) return error;
    await new Promise((resolve) => setTimeout(resolve, betweenTriesMs));
  }
}
