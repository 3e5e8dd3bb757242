// Load: requests at a constant rate without waiting for responses, or one after the other by so many callers.
import { setTimeout as sleep } from "node:timers/promises";
import type { Reply } from "./connection.ts";

/** Sends the request of this number. Rejects where there was no response. */
export type Send = (number: number) => Promise<Reply>;

/** What came of a request. */
export interface Outcome {
  /** Milliseconds from the start of the load to when it was due. */
  readonly dueMs: number;
  /** From when it was due, not from when it was sent: a caller who waits for a turn waits too. */
  readonly ms: number;
  /** The response; undefined where there was none. */
  readonly reply: Reply | undefined;
  /** Why there was none: the code of the socket's error, or `TIMEOUT`. */
  readonly fault: string | undefined;
}

/** Requests at a constant rate. */
export interface OpenLoop {
  readonly perSecond: number;
  readonly seconds: number;
  /** After this long a request counts as never served. */
  readonly patienceMs: number;
}

/** Sends at a constant rate, without waiting for responses, and resolves when every request was served or given up. */
export async function openLoop({ perSecond, seconds, patienceMs }: OpenLoop, send: Send): Promise<Outcome[]> {
  const began = performance.now();
  const total = Math.round(perSecond * seconds);
  const outcomes: Promise<Outcome>[] = [];
  while (outcomes.length < total) {
    const due = Math.min(total, Math.ceil(((performance.now() - began) / 1_000) * perSecond));
    while (outcomes.length < due)
      outcomes.push(outcomeOf(outcomes.length, (outcomes.length / perSecond) * 1_000, began, patienceMs, send));
    await sleep(1);
  }
  return Promise.all(outcomes);
}

/** Has so many callers send one request after the other, each when the last was served. */
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
  const came = await Promise.race([completed, late]);
  clearTimeout(timer);
  const ms = performance.now() - began - dueMs;
  return typeof came === "string"
    ? { dueMs, ms, reply: undefined, fault: came }
    : { dueMs, ms, reply: came, fault: undefined };
}

/** The value below which this share of them lies; 0 of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** How many outcomes there are of each status or fault, the most frequent first: `200: 512, 503: 3`. */
export function tally(outcomes: readonly Outcome[]): string {
  return countEach(outcomes.map(({ reply, fault }) => fault ?? String(reply?.status)));
}

/** How often each name is there, the most frequent first, for people. */
export function countEach(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name}: ${count}`)
    .join(", ");
}
