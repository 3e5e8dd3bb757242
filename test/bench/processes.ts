// Starts, measures and stops the processes of the bench, pinned to cores if possible.
import type { ChildProcess } from "node:child_process";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort, isListening } from "../../src/embedded/port.ts";
import { requireServiceUser } from "../fixtures/databases/database.ts";
import { sendOnce } from "../drills/load/connection.ts";
import type { Load, Loaded } from "./load/load.ts";

export interface RunningPeer {
  readonly port: number;
  readonly pid: number;
  /** Milliseconds from its start to its first response. */
  readonly startMs: number;
  stop(): Promise<void>;
}

/** The command of a service. `PORT` is added to the environment. */
export interface PeerCommand {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** The service has one core, everything else the other. */
const serverCore = 0;
const otherCore = 1;
/** Whether processes can be pinned to cores. */
export const pinned = availableParallelism() > 1 && existsSync("/usr/bin/taskset");
const startLimitMs = 240_000;
const ticksPerSecond = 100;

/** The command that runs a TypeScript file in Node. */
export function nodeOn(file: string, node = process.execPath, ...options: string[]): string[] {
  return [node, ...options, "--import", "tsx", file];
}

/**
 * Starts a service and waits for its first 200 response to the request, or until it listens if the request is empty.
 */
export async function startPeer({ command, environment }: PeerCommand, firstRequest: string): Promise<RunningPeer> {
  requireServiceUser(environment["MONGODB_URI"] ?? "");
  const port = await freePort();
  const begun = performance.now();
  const [program = "", ...rest] = onCore(serverCore, command);
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: process.env["HOME"] ?? "",
    NODE_ENV: "production",
    ...environment,
    PORT: String(port),
  };
  const child = spawn(program, rest, { stdio: ["ignore", "ignore", "inherit"], env });
  const stop = (): Promise<void> => end(child);
  for (;;) {
    const response = await firstResponse(port, firstRequest);
    if (response?.status === 200) return { port, pid: child.pid ?? 0, startMs: performance.now() - begun, stop };
    const problem =
      child.exitCode !== null
        ? `ended with ${child.exitCode}`
        : performance.now() - begun > startLimitMs
          ? `returned ${response?.status ?? "nothing"}`
          : undefined;
    if (problem !== undefined) {
      await stop();
      throw new Error(`${command.join(" ")} ${problem}`);
    }
    await sleep(5);
  }
}

export interface LoadClient {
  run(load: Load): Promise<Loaded>;
  stop(): Promise<void>;
}

export function startLoadClient(): LoadClient {
  const [program = "", ...rest] = onCore(otherCore, nodeOn(`${import.meta.dirname}/load/client.ts`));
  const child = spawn(program, rest, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  let settle: { resolve(loaded: Loaded): void; reject(error: Error): void } | undefined;
  child.on("message", (loaded: Loaded) => settle?.resolve(loaded));
  child.on("exit", () => settle?.reject(new Error("the load client ended")));
  return {
    run: (load) =>
      new Promise((resolve, reject) => {
        settle = { resolve, reject };
        child.send(load);
      }),
    stop: () => end(child),
  };
}

/** Keeps processes off the core of the services. */
export function pinToOtherCore(pids: readonly number[]): void {
  if (pinned)
    for (const pid of pids) execFileSync("taskset", ["-apc", String(otherCore), String(pid)], { stdio: "ignore" });
}

/** CPU seconds that a process and its children have used, including their threads. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0) / ticksPerSecond;
}

/** Resident memory of a process in megabytes. */
export function residentMegabytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024;
}

async function firstResponse(port: number, request: string): Promise<{ readonly status: number } | undefined> {
  if (request === "") return (await isListening(port)) ? { status: 200 } : undefined;
  return sendOnce(`http://127.0.0.1:${port}`, request).catch(() => undefined);
}

function onCore(core: number, command: readonly string[]): readonly string[] {
  return pinned ? ["taskset", "-c", String(core), ...command] : command;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  const killTimer = setTimeout(() => child.kill("SIGKILL"), 12_000);
  await exited;
  clearTimeout(killTimer);
}
