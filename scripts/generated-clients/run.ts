// Runs tools of other languages.
import { spawnSync } from "node:child_process";

const lastLines = 15;

/** Runs a program and returns its output. Throws with the last lines if it fails. */
export function run(
  program: string,
  args: readonly string[],
  cwd: string,
  environment: Readonly<Record<string, string>> = {},
  timeoutMs = 600_000,
): { readonly out: string; readonly all: string } {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    env: { ...process.env, ...environment },
    encoding: "utf8",
    timeout: timeoutMs,
    maxBuffer: 64 * 1024 * 1024,
  });
  if (error !== undefined) throw error;
  const all = `${stdout}${stderr}`;
  if (status !== 0)
    throw new Error(`${program} exited with ${status}\n${all.trim().split("\n").slice(-lastLines).join("\n")}`);
  return { out: stdout, all };
}
