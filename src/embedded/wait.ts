// Waits for a condition that can only be polled.
import { setTimeout as sleep } from "node:timers/promises";

/** Polls every 10 ms until the condition returns true. Fails with the signal's reason once the signal is aborted. */
export async function until(condition: () => boolean | Promise<boolean>, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    if (await condition()) return;
    await sleep(10);
  }
}
