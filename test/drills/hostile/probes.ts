// Continuously probes an instance's health and a record, from a separate process.
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Errand } from "./prober.ts";

/** Measurements since the previous call. */
export interface Seen {
  readonly count: number;
  /** In milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly worst: number;
  /** Responses other than 200, and errors. */
  readonly failures: readonly string[];
}

/** Probes that run until stopped. */
export interface Probes {
  take(): Promise<Seen>;
  stop(): Promise<void>;
}

/** Starts the probes in a child process. */
export function startProbes(errand: Errand): Probes {
  const child = fork(join(import.meta.dirname, "prober.ts"), { execArgv: ["--import", "tsx"] });
  child.send(errand);
  return {
    async take() {
      child.send("take");
      const [{ times, failures }] = (await once(child, "message")) as [{ times: number[]; failures: string[] }];
      times.sort((a, b) => a - b);
      const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
      return { count: times.length, p50: at(0.5), p99: at(0.99), worst: at(1), failures };
    },
    async stop() {
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    },
  };
}
