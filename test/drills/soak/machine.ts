// Detects that other processes keep the processor busy, for which the drill must not blame the service.
import type { Miss } from "./load.ts";

/** A watch on how late this process is woken. */
export interface Machine {
  /** Whether a request that ended at its deadline ran while this process, which has little to do, was woken late. */
  explains(miss: Miss): boolean;
  maxMs(): number;
  stop(): void;
}

const everyMs = 50;
/** A process that is ready to run waits for a fraction of it on a machine that is merely busy. */
const lateMs = 250;
/** A little less than the service's deadline of 4.8 seconds. */
const deadlineMs = 4_500;

export function watchMachine(): Machine {
  const late: { readonly from: number; readonly to: number }[] = [];
  let maxMs = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    const waited = now - last - everyMs;
    maxMs = Math.max(maxMs, waited);
    if (waited > lateMs) late.push({ from: last, to: now });
    last = now;
  }, everyMs).unref();
  return {
    explains: ({ word, sentAt, completedAt }) =>
      word === "unavailable" &&
      completedAt - sentAt > deadlineMs &&
      late.some(({ from, to }) => to > sentAt && from < completedAt),
    maxMs: () => Math.round(maxMs),
    stop: () => clearInterval(timer),
  };
}
