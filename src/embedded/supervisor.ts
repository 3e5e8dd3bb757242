// Runs a server program as a child process that ends with the service, even if the service is killed.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import type { Socket } from "node:net";

/** A running server program. */
export interface SupervisedProcess {
  readonly pid: number;
  /** Resolves when the process has ended, with the signal that ended it or its exit code. */
  readonly ended: Promise<string>;
  /** Sends SIGTERM, and SIGKILL after `patience` milliseconds. Resolves when the server and its watcher have ended. */
  end(patience: number): Promise<void>;
}

/**
 * A shell that becomes the server, and so has its pid. It leaves behind a watcher that reads a pipe from this process.
 * A line on the pipe ends the watcher. The end of the pipe means that this process was killed, even by SIGKILL, and the
 * watcher then ends the server.
 */
const WATCHED = `(read -r line <&3 || kill -TERM $$) & exec "$@" 3<&-`;

/**
 * Starts a command in its own session. Ctrl-C in the terminal then only reaches the service, which ends its servers
 * last. Appends the output to `outputFile`. The child does not keep this process alive.
 */
export async function runSupervised(
  command: readonly string[],
  outputFile: string,
  env: NodeJS.ProcessEnv,
): Promise<SupervisedProcess> {
  const child = startWatched(command, outputFile, env);
  await once(child, "spawn");
  const supervisor = child.stdio[3] as Socket;
  const released = new Promise((resolve) => supervisor.once("close", resolve));
  const ended = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => {
      supervisor.end("\n");
      resolve(signal ?? `exit code ${code}`);
    });
  });
  // The watcher may end before the line is written, for example if a user kills it.
  supervisor.on("error", () => {}).resume();
  supervisor.unref();
  child.unref();
  return {
    pid: child.pid as number,
    ended,
    async end(patience) {
      child.ref();
      child.kill("SIGTERM");
      const killTimer = setTimeout(() => child.kill("SIGKILL"), patience);
      await ended;
      clearTimeout(killTimer);
      supervisor.ref();
      await released;
    },
  };
}

function startWatched(command: readonly string[], outputFile: string, env: NodeJS.ProcessEnv) {
  const output = openSync(outputFile, "a", 0o600);
  try {
    return spawn("/bin/sh", ["-c", WATCHED, "sh", ...command], {
      detached: true,
      stdio: ["ignore", output, output, "pipe"],
      env,
    });
  } finally {
    // `spawn` throws if the machine has no memory for a process.
    closeSync(output);
  }
}
