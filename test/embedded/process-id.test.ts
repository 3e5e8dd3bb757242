// A process is identified by more than its pid, and only that process is ended.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { endProcess, identify, isRunning, pidOf } from "../../src/embedded/process-id.ts";

function sleeper(script = "exec sleep 60"): { pid: number; exited: Promise<unknown[]> } {
  const child = spawn("/bin/sh", ["-c", script], { stdio: "ignore" });
  const exited = once(child, "exit");
  onTestFinished(() => void child.kill("SIGKILL"));
  return { pid: child.pid as number, exited };
}

test("a process has the same name during its whole life, and none once it has ended", async () => {
  const { pid, exited } = sleeper();
  const id = identify(pid) as string;
  expect(pidOf(id)).toBe(pid);
  expect(identify(pid)).toBe(id);
  expect(isRunning(id)).toBe(true);
  await endProcess(id, 5_000);
  expect((await exited)[1]).toBe("SIGTERM");
  expect(isRunning(id)).toBe(false);
  expect(identify(pid)).toBeUndefined();
});

test("does not mistake another process with the same pid for it, and does not end that process [OPS-21]", async () => {
  const { pid } = sleeper();
  const own = identify(pid) as string;
  const earlier = own.replace(/-(\d+)-/, (_, start: string) => `-${Number(start) - 1}-`);
  expect(isRunning(earlier)).toBe(false);
  await endProcess(earlier, 1_000);
  expect(isRunning(own)).toBe(true);
});

test("kills a process that ignores SIGTERM, after a wait", async () => {
  const { pid, exited } = sleeper("trap '' TERM; while :; do sleep 0.05; done");
  const id = identify(pid) as string;
  await new Promise((resolve) => setTimeout(resolve, 100));
  await endProcess(id, 200);
  expect((await exited)[1]).toBe("SIGKILL");
});

test("a name that is not that of a process is not running", () => {
  for (const id of ["", "undefined", "0-0-0", "-1-5-a"]) expect(isRunning(id), id).toBe(false);
});
