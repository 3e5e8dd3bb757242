// Names a process so that no other is ever taken for it, and ends one by that name.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** `<pid>-<start>-<boot>`: pids are used again, a pid with the moment of its start within one boot is not. */
export type ProcessId = string;

/** The name of the process that has this pid now; undefined where there is none, or only a zombie nobody has reaped. */
export function identify(pid: number): ProcessId | undefined {
  try {
    return process.platform === "linux" ? fromProc(pid) : fromPs(pid);
  } catch {
    return undefined;
  }
}

/** Whether a text has the form of such a name. */
export function isProcessId(text: string): text is ProcessId {
  return /^\d+-(?:\d+|NaN)-(?:[\da-f]{8}|0)$/.test(text);
}

/** Whether that very process still runs. */
export function isRunning(id: ProcessId): boolean {
  return identify(pidOf(id)) === id;
}

export function pidOf(id: ProcessId): number {
  return Number.parseInt(id, 10);
}

/**
 * SIGTERM, and SIGKILL after `patience` milliseconds; resolves when the process is gone, at once if it was already.
 * Fails where it is not ours to end, or does not go.
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

/** proc(5): the state is the third field and the start the 22nd; the second, the name, may hold blanks and brackets. */
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
