// Runs a server program as a child that outlives neither a stopped service nor a killed one.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import type { Socket } from "node:net";

/** A running server program. */
export interface SupervisedProcess {
  readonly pid: number;
  /** Resolves when it has ended: with the signal that ended it, or its exit code. */
  readonly ended: Promise<string>;
  /** SIGTERM, and SIGKILL after `patience` milliseconds; resolves when nothing of it runs any more. */
  end(patience: number): Promise<void>;
}

/**
 * The shell turns into the server, so its pid is the server's, and leaves a watcher behind that holds the other end of
 * a pipe to us. A line on the pipe lets the watcher go; the pipe's end means that we were killed, by SIGKILL too, and
 * then it ends the server.
 */
const WATCHED = `(read -r line <&3 || kill -TERM $$) & exec "$@" 3<&-`;

/**
 * Starts a command in a session of its own, so that Ctrl-C in the terminal reaches the service alone, which ends its
 * servers last. What it prints is appended to `outputFile`. It does not keep this process from ending.
 */
export async function runSupervised(
  command: readonly string[],
  outputFile: string,
  env: NodeJS.ProcessEnv,
): Promise<SupervisedProcess> {
  const output = openSync(outputFile, "a", 0o600);
  const child = spawn("/bin/sh", ["-c", WATCHED, "sh", ...command], {
    detached: true,
    stdio: ["ignore", output, output, "pipe"],
    env,
  });
  closeSync(output);
  await once(child, "spawn");
  const supervisor = child.stdio[3] as Socket;
  const released = new Promise((resolve) => supervisor.once("close", resolve));
  const ended = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => {
      supervisor.end("\n");
      resolve(signal ?? `exit code ${code}`);
    });
  });
  // The watcher may be gone before the line is written, as when somebody ends it by hand.
  supervisor.on("error", () => {}).resume();
  supervisor.unref();
  child.unref();
  return {
    pid: child.pid as number,
    ended,
    async end(patience) {
      child.ref();
      child.kill("SIGTERM");
      const impatience = setTimeout(() => child.kill("SIGKILL"), patience);
      await ended;
      clearTimeout(impatience);
      supervisor.ref();
      await released;
    },
  };
}
