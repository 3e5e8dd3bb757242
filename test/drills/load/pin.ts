// Pins the measured processes and the load generator to different cores if `taskset` is installed.
import { execFileSync } from "node:child_process";
import { availableParallelism } from "node:os";

/** Pins the processes `alone` to one core and all other processes of the drill to another. Returns a description. */
export function pinApart(
  alone: readonly number[],
  others: readonly number[],
): { readonly description: string; undo(): void } {
  if (availableParallelism() < 2) return { description: "not pinned: only one core", undo: () => undefined };
  try {
    const before = cores(process.pid);
    const [first = 0, second = 1] = before;
    for (const pid of alone) pin(pid, [first]);
    for (const pid of [...others, process.pid]) pin(pid, [second]);
    return {
      description: `the service on core ${first}, the callers and the databases on core ${second}`,
      undo: () => pin(process.pid, before),
    };
  } catch {
    return { description: "not pinned: taskset is not installed", undo: () => undefined };
  }
}

function pin(pid: number, to: readonly number[]): void {
  execFileSync("taskset", ["-a", "-c", "-p", to.join(","), String(pid)], { stdio: "ignore" });
}

function cores(pid: number): number[] {
  const list =
    execFileSync("taskset", ["-c", "-p", String(pid)], { encoding: "utf8" })
      .split(":")
      .at(-1) ?? "";
  return list
    .trim()
    .split(",")
    .flatMap((part) => {
      const [from = 0, to = from] = part.split("-").map(Number);
      return Array.from({ length: to - from + 1 }, (_, at) => from + at);
    });
}
