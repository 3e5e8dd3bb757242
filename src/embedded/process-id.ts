// Identifies processes by ids that, unlike pids, are never reused, and ends a process by such an id.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** `<pid>-<start>-<boot>`. Pids are reused, but not with the same start time within one boot. */
export type ProcessId = string;

/** Returns the id of the process with this pid, or undefined if there is none or it is a zombie. */
export function identify(pid: number): ProcessId | undefined {
  try {
    return process.platform === "linux" ? fromProc(pid) : fromPs(pid);
  } catch {
    return undefined;
  }
}

/** Whether a text has the form of a process id. */
export function isProcessId(text: string): text is ProcessId {
  return /^\d+-(?:\d+|NaN)-(?:[\da-f]{8}|0)$/.test(text);
}

/** Whether this process still runs. */
export function isRunning(id: ProcessId): boolean {
  return identify(pidOf(id)) === id;
}

export function pidOf(id: ProcessId): number {
  return Number.parseInt(id, 10);
}

/**
 * Sends SIGTERM, and SIGKILL after `patience` milliseconds. Resolves when the process has ended, at once if it already
 * had. Fails if we may not end the process, or if it does not end.
 */
export async function endProcess(id: ProcessId, patience: number): Promise<void> {
  for (const [signal, wait] of [
    ["SIGTERM", patience],
    ["SIGKILL", 5_000],
  ] as const) {
    if (!isRunning(id)) return;
    process.kill(pidOf(id), signal);
    for (const deadline = performance.now() + wait; performance.now() < deadline; await sleep(20))
      if (!isRunning(id)) return;
  }
  throw new Error(`The process with pid ${pidOf(id)} does not end. End it by hand.`);
}

/**
 * Reads proc(5): the state is field 3 and the start time is field 22. Field 2, the name, may contain spaces and
 * parentheses.
 */
function fromProc(pid: number): ProcessId | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").slice(0, 8);
  return /[ZX]/i.test(fields[0] ?? "") ? undefined : `${pid}-${fields[19]}-${boot}`;
}

function fromPs(pid: number): ProcessId | undefined {
  const [state = "", ...started] = execFileSync("ps", ["-o", "state=,lstart=", "-p", String(pid)], { encoding: "utf8" })
    .trim()
    .split(/\s+/);
  return state.startsWith("Z") ? undefined : `${pid}-${Date.parse(started.join(" "))}-0`;
}
