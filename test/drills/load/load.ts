// Generates load: open loop at a constant rate, or closed loop with a number of callers.
import { setTimeout as sleep } from "node:timers/promises";
import type { Reply } from "./connection.ts";

/** Sends the request with this number. Rejects if there is no response. */
export type Send = (number: number) => Promise<Reply>;

export interface Outcome {
  /** When it was due, in milliseconds from the start of the load. */
  readonly dueMs: number;
  /** The latency from when it was due, not from when it was sent, so that waiting counts. */
  readonly ms: number;
  /** The response; undefined if there was none. */
  readonly reply: Reply | undefined;
  /** Why there was no response: the code of the socket's error, or `TIMEOUT`. */
  readonly fault: string | undefined;
}

export interface OpenLoop {
  readonly perSecond: number;
  readonly seconds: number;
  readonly patienceMs: number;
  /** A request that is due while this many have no response is left out. Unlimited if undefined. */
  readonly maxUnanswered?: number;
}

/** Sends at a constant rate without waiting for responses. Resolves when every request has completed or timed out. */
export async function openLoop(
  { perSecond, seconds, patienceMs, maxUnanswered = Infinity }: OpenLoop,
  send: Send,
): Promise<Outcome[]> {
  const began = performance.now();
  const total = Math.round(perSecond * seconds);
  const outcomes: Promise<Outcome>[] = [];
  let [number, unanswered] = [0, 0];
  const sendAndCount: Send = (number) => {
    unanswered += 1;
    return send(number).finally(() => (unanswered -= 1));
  };
  while (number < total) {
    const due = Math.min(total, Math.ceil(((performance.now() - began) / 1_000) * perSecond));
    for (; number < due; number++) {
      if (unanswered >= maxUnanswered) continue;
      outcomes.push(outcomeOf(number, (number / perSecond) * 1_000, began, patienceMs, sendAndCount));
    }
    await sleep(1);
  }
  return Promise.all(outcomes);
}

/** Runs callers that each send one request after another. */
export async function closedLoop(callers: number, seconds: number, patienceMs: number, send: Send): Promise<Outcome[]> {
  const began = performance.now();
  const outcomes: Outcome[] = [];
  let number = 0;
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() - began < seconds * 1_000)
        outcomes.push(await outcomeOf(number++, performance.now() - began, began, patienceMs, send));
    }),
  );
  return outcomes;
}

async function outcomeOf(
  number: number,
  dueMs: number,
  began: number,
  patienceMs: number,
  send: Send,
): Promise<Outcome> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => (timer = setTimeout(() => resolve("TIMEOUT"), patienceMs)));
  const completed = send(number).catch((error: unknown) =>
    error instanceof Error && "code" in error ? String(error.code) : String(error),
  );
  const result = await Promise.race([completed, late]);
  clearTimeout(timer);
  const ms = performance.now() - began - dueMs;
  return typeof result === "string"
    ? { dueMs, ms, reply: undefined, fault: result }
    : { dueMs, ms, reply: result, fault: undefined };
}

/** The quantile of some values; 0 if there are none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** Counts outcomes by status or fault, most frequent first: `200: 512, 503: 3`. */
export function tally(outcomes: readonly Outcome[]): string {
  return countEach(outcomes.map(({ reply, fault }) => fault ?? String(reply?.status)));
}

/** Counts each name, most frequent first, for people. */
export function countEach(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name}: ${count}`)
    .join(", ");
}
