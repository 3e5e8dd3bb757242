// What the system knows of a process: whether it is there, its memory, and the time that its main thread has run.
import { readFileSync } from "node:fs";

/** Memory that the process holds now, in megabytes. Throws where there is no such process. */
export function residentMb(pid: number): number {
  const [, kilobytes = "0"] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1_024;
}

/**
 * How long the main thread has run, in milliseconds: what a request costs is the difference, on a busy machine too.
 * While it runs nobody else is answered.
 */
export function mainThreadMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
}

/** How long the main thread could have run and had no processor, in milliseconds. */
export function waitingMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[1]) / 1e6;
}
