// Starts a server program again when it ends by itself, as when the system kills it for its memory.
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "./program.ts";

/** One run of a server. */
export interface Run {
  readonly pid: number;
  /** Resolves with how it ended, for people. */
  readonly ended: Promise<string>;
  /** Ends it, if it has not ended, and resolves when nothing of it is left. */
  stop(): Promise<void>;
}

/** A server that is kept running. */
export interface KeptRunning {
  /** Of the latest run. */
  readonly pid: number;
  stop(): Promise<void>;
}

/** Before a start; doubled while runs are short or fail. */
const pauseMs = { first: 250, most: 30_000 } as const;
/** A run that lasts as long is no failed one. */
const longRunMs = 60_000;

/** Replaces a run that ends by another one, until it is stopped. `report` gets a line for every end and failure. */
export function keepRunning(
  role: string,
  first: Run,
  again: (stopped: AbortSignal) => Promise<Run>,
  report: (line: string) => void,
): KeptRunning {
  let current = first;
  let pause: number = pauseMs.first;
  const stopping = new AbortController();
  const { signal } = stopping;

  /** The next run, after the pause and as many attempts as it takes; undefined once it is stopped. */
  async function next(): Promise<Run | undefined> {
    for (; ; pause = Math.min(pause * 2, pauseMs.most)) {
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
      const how = await current.ended;
      if (signal.aborted) return;
      report(`the embedded ${role} has ended (${how}): it is started again`);
      await current.stop();
      pause = performance.now() - began > longRunMs ? pauseMs.first : Math.min(pause * 2, pauseMs.most);
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
      await current.stop();
      await restarting;
      await current.stop();
    },
  };
}
