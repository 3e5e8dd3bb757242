// A steady load on changing instances: sends every call to every instance in turn and records what was not served.
import { setTimeout as sleep } from "node:timers/promises";
import type { Kind, Surfaces, Word } from "../dependencies/surfaces.ts";

export interface Loaded {
  readonly name: string;
  readonly surfaces: Surfaces;
}

/** A request that was not served. */
export interface Miss {
  readonly instance: string;
  readonly call: string;
  readonly kind: Kind;
  readonly word: Word;
  /** Milliseconds of `performance.now()`. */
  readonly sentAt: number;
  readonly completedAt: number;
}

export interface Outcome {
  requests: number;
  /** The number of requests by outcome. */
  readonly words: Map<Word, number>;
  readonly misses: Miss[];
  slowestMs: number;
}

/** Sends the next call to the next instance. */
export interface Source {
  readonly outcome: Outcome;
  next(): Promise<void>;
}

export function createSource(loaded: () => readonly Loaded[]): Source {
  const outcome: Outcome = { requests: 0, words: new Map(), misses: [], slowestMs: 0 };
  let turn = 0;
  return {
    outcome,
    async next() {
      const among = loaded();
      const at = turn++;
      const one = among[at % among.length];
      if (one === undefined) throw new Error("no instance to call");
      const { calls } = one.surfaces;
      // A prime step, so that each call reaches each instance.
      const call = calls[(at * 7 + Math.floor(at / calls.length)) % calls.length];
      if (call === undefined) throw new Error("no call to send");
      const sentAt = performance.now();
      const word = await call.send();
      const completedAt = performance.now();
      outcome.requests += 1;
      outcome.words.set(word, (outcome.words.get(word) ?? 0) + 1);
      outcome.slowestMs = Math.max(outcome.slowestMs, completedAt - sentAt);
      if (word !== "served")
        outcome.misses.push({ instance: one.name, call: call.name, kind: call.kind, word, sentAt, completedAt });
    },
  };
}

/** Measures the throughput in requests per second with this many sequential callers. */
export async function calibrate(source: Source, callers: number, forMs: number): Promise<number> {
  const until = performance.now() + forMs;
  let count = 0;
  await Promise.all(
    Array.from({ length: callers }, async () => {
      for (; performance.now() < until; count++) await source.next();
    }),
  );
  return (count / forMs) * 1_000;
}

/**
 * Sends requests at a constant rate until `during` settles, waits for all responses, and resolves with the actual rate.
 * Skips requests while `most` are in progress, so as not to overload a slow machine.
 */
export async function steadily(
  source: Source,
  perSecond: number,
  most: number,
  during: Promise<unknown>,
): Promise<number> {
  let over = false;
  const end = during.finally(() => (over = true));
  const under = new Set<Promise<void>>();
  const begun = performance.now();
  let [due, sent] = [0, 0];
  while (!over) {
    for (const now = ((performance.now() - begun) / 1_000) * perSecond; due < now; due++) {
      if (under.size >= most) continue;
      const one = source.next().finally(() => under.delete(one));
      under.add(one);
      sent += 1;
    }
    await sleep(5);
  }
  await Promise.all([end, ...under]);
  return (sent / (performance.now() - begun)) * 1_000;
}
