// CPU time and memory of a process, from /proc.
import { readFileSync } from "node:fs";

/** The CPU time of a process in seconds. Linux counts it in hundredths. */
export function cpuSeconds(pid: number): number {
  const [user = "0", system = "0"] = (readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1] ?? "")
    .split(" ")
    .slice(11, 13);
  return (Number(user) + Number(system)) / 100;
}

/** The resident memory of a process in megabytes. */
export function rssMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1_024;
}
