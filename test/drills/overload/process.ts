// What a process has had of the machine, as Linux counts it.
import { readFileSync } from "node:fs";

/** The processor's time that a process has had; Linux counts it in hundredths. */
export function cpuSeconds(pid: number): number {
  const [user = "0", system = "0"] = (readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1] ?? "")
    .split(" ")
    .slice(11, 13);
  return (Number(user) + Number(system)) / 100;
}

/** The memory that a process has resident, in megabytes. */
export function rssMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1_024;
}
