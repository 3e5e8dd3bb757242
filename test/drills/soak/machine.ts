// Detects when other processes keep the CPU busy, so that the drill does not blame the service.
import type { Miss } from "./load.ts";

/** Watches how late this process is scheduled. */
export interface Machine {
  /** Whether this mostly idle process was scheduled late while a request ran into its deadline. */
  explains(miss: Miss): boolean;
  maxMs(): number;
  stop(): void;
}

const everyMs = 50;
/** On a merely busy machine, a runnable process waits much less. */
const lateMs = 250;
/** Slightly below the service's deadline of 4.8 seconds. */
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
