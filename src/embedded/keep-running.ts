// Restarts a server program that ends unexpectedly, for example when the system kills it for lack of memory.
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "./program.ts";

/** One run of a server. */
export interface Run {
  readonly pid: number;
  /** Resolves with the readable reason for the end. */
  readonly ended: Promise<string>;
  /** Stops the server if it still runs, and resolves when none of its processes is left. */
  stop(): Promise<void>;
}

/** A server that is restarted whenever it ends. */
export interface KeptRunning {
  /** The pid of the latest run. */
  readonly pid: number;
  stop(): Promise<void>;
}

/** The pause before a restart. It doubles while runs are short or fail. */
const pauseMs = { first: 250, max: 30_000 } as const;
/** A run that lasts longer than this resets the pause. */
const longRunMs = 60_000;
/** How many short runs in a row show that the program cannot run, rather than that something ended it once. */
const manyShortRuns = 3;

/**
 * Restarts the server whenever it ends, until it is stopped. `report` receives a line for every end and every failed
 * restart.
 */
export function keepRunning(
  role: string,
  first: Run,
  again: (stopped: AbortSignal) => Promise<Run>,
  report: (line: string) => void,
): KeptRunning {
  let current = first;
  let pause: number = pauseMs.first;
  let shortRuns = 0;
  const stopping = new AbortController();
  const { signal } = stopping;

  /** Starts the next run after the pause, with as many attempts as necessary. Returns undefined once stopped. */
  async function next(): Promise<Run | undefined> {
    for (; ; pause = Math.min(pause * 2, pauseMs.max)) {
      await sleep(pause, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return undefined;
      try {
        return await again(signal);
      } catch (error) {
        if (!signal.aborted) report(messageOf(error));
      }
    }
  }

  async function restart(): Promise<void> {
    for (let began = performance.now(); ; began = performance.now()) {
      const how = await current.ended.catch(messageOf);
      if (signal.aborted) return;
      const isShort = performance.now() - began <= longRunMs;
      shortRuns = isShort ? shortRuns + 1 : 0;
      report(`the embedded ${role} has ended (${how}): it is started again`);
      if (shortRuns === manyShortRuns)
        report(
          `the embedded ${role} ends again and again, ${manyShortRuns} times within a minute of its start: see docs/troubleshooting.md`,
        );
      // A full disk must not end the service: the next start fails too, and is repeated.
      await current.stop().catch((error: unknown) => report(messageOf(error)));
      pause = isShort ? Math.min(pause * 2, pauseMs.max) : pauseMs.first;
      const run = await next();
      if (run === undefined) return;
      current = run;
      if (signal.aborted) return;
    }
  }

  const restarting = restart();
  return {
    get pid() {
      return current.pid;
    },
    async stop() {
      stopping.abort();
      // A restart may complete meanwhile, also if the clean-up of the current run fails.
      await Promise.allSettled([current.stop(), restarting]);
      await current.stop();
    },
  };
}
