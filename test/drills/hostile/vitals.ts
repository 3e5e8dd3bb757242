// Reads from /proc whether a process runs, its memory, and the CPU time of its main thread.
import { existsSync, readFileSync } from "node:fs";

export function isRunning(pid: number): boolean {
  return existsSync(`/proc/${pid}/status`);
}

/** Resident memory in megabytes. Throws if there is no such process. */
export function residentMb(pid: number): number {
  const [, kilobytes = "0"] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1_024;
}

/** CPU time of the main thread in milliseconds. The difference is the cost of a request, even on a busy machine. */
export function mainThreadMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
}

/** How long the main thread was runnable but not scheduled, in milliseconds. */
export function waitingMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[1]) / 1e6;
}
