// A process is identified by more than its pid, and only that process is ended.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { endProcess, identify } from "../../src/embedded/process-id.ts";

function sleeper(script = "exec sleep 60"): { pid: number; exited: Promise<unknown[]> } {
  const child = spawn("/bin/sh", ["-c", script], { stdio: "ignore" });
  const exited = once(child, "exit");
  onTestFinished(() => void child.kill("SIGKILL"));
  return { pid: child.pid as number, exited };
}

test("kills a process that ignores SIGTERM, after a wait", async () => {
  const { pid, exited } = sleeper("trap '' TERM; while :; do sleep 0.05; done");
  const id = identify(pid) as string;
  await new Promise((resolve) => setTimeout(resolve, 100));
  await endProcess(id, 200);
  expect((await exited)[1]).toBe("SIGKILL");
});
