// The real `records` program against an instance of a drill.
import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { ChildInstance } from "../../fixtures/service/child.ts";
import { childToken } from "../../fixtures/service/child.ts";

/** How a command ended, and what it said. */
export interface Ended {
  readonly code: number | string;
  readonly output: string;
}

/** A command that runs. */
export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

const program = join(import.meta.dirname, "..", "..", "bin", "records.js");

/** Starts a command. */
export function start({ internalPort }: Pick<ChildInstance, "internalPort">, ...args: readonly string[]): Running {
  const child = spawn(process.execPath, [program, "--json", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: process.env["HOME"] ?? "",
      INTERNAL_PORT: String(internalPort),
      SERVICE_TOKENS: childToken,
    },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const ended = once(child, "close").then(([code, signal]) => ({ code: (code ?? signal) as number | string, output }));
  return { child, ended };
}
