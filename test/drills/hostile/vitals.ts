// Reads from the system whether a process runs, its memory, and the CPU time of its main thread.
import { existsSync, readFileSync } from "node:fs";

export function isRunning(pid: number): boolean {
  return existsSync(`/proc/${pid}/status`);
}

/** Memory that the process holds now, in megabytes. Throws where there is no such process. */
export function residentMb(pid: number): number {
  const [, kilobytes = "0"] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1_024;
}

/**
 * CPU time of the main thread, in milliseconds. The difference is the cost of a request, also on a busy machine.
 * While the thread runs, no other request is served.
 */
export function mainThreadMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
}

/** How long the main thread was runnable but had no processor, in milliseconds. */
export function waitingMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[1]) / 1e6;
}
