// Runs one fault against an instance and checks every response during and after it.
import { setTimeout as sleep } from "node:timers/promises";
import type { Fault } from "./faults.ts";
import type { Call, Ledger, Surfaces, Word } from "./surfaces.ts";

export interface Trial {
  /** How often everything is requested during the fault, and the pause between. */
  readonly waves: number;
  readonly pauseMs: number;
}

/** What was observed during a fault. */
export interface Seen {
  readonly slowestMs: number;
  /** From the end of the fault until every request was served. */
  readonly recoveryMs: number;
  /** Requests that got 503 at their deadline while idle requests were slow too, so the machine may be the cause. */
  readonly unchecked: number;
  readonly violations: readonly string[];
}

interface TimedResponse {
  readonly call: Call;
  readonly sentAt: number;
  readonly ms: number;
  readonly word: Word;
  /** Latency of the slowest idle request at the same time. */
  readonly idleMs: number;
}

/** Every request must be served within this time. */
const respondWithinMs = 6_000;
/** Everything must recover within this time. */
const recoverWithinMs = 15_000;
/** Health checks may take this long to notice a fault. Other requests reach MongoDB directly. */
const noticedWithinMs = 2_500;
const idleEveryMs = 250;
/** Slightly below the service's deadline of 4.8 seconds. */
const deadlineMs = 4_500;
/** An idle request normally takes a few milliseconds. */
const slowIdleMs = 250;
/**
 * On a busy machine, a request waits as long as an idle one three times: on arrival, at its deadline, and when it is
 * answered.
 */
const turns = 3;
const warmWithinMs = 120_000;

/** Sends each request until it is served, so that the instance's caches are warm. */
export async function warmUp({ calls }: Surfaces): Promise<void> {
  const until = performance.now() + warmWithinMs;
  for (const call of calls) {
    for (let word = await call.send(); word !== "served"; word = await call.send()) {
      if (performance.now() > until) throw new Error(`${call.name} is ${word} before any fault`);
      await sleep(100);
    }
  }
}

/** Runs the fault and checks the same instance during and after it. */
export async function runTrial(
  fault: Fault,
  surfaces: Surfaces,
  ledger: Ledger,
  end: () => Promise<unknown>,
  { waves, pauseMs }: Trial,
): Promise<Seen> {
  const violations: string[] = [];
  let [slowestMs, unchecked] = [0, 0];
  const begun = performance.now();

  async function wave(): Promise<TimedResponse[]> {
    const responses = await requestAll(surfaces);
    for (const { call, ms, word } of responses) {
      slowestMs = Math.max(slowestMs, ms);
      if (word !== "served" && word !== "unavailable")
        violations.push(`${fault.name}: ${call.name} got ${word} after ${Math.round(ms)} ms`);
    }
    return responses;
  }
  /** Waits until everything is served and returns the milliseconds since `since`. */
  async function served(since: number, when: string): Promise<number> {
    for (;;) {
      const sentAt = performance.now();
      const not = (await wave()).filter(({ word }) => word !== "served");
      if (not.length === 0) return sentAt - since;
      if (sentAt - since > recoverWithinMs) {
        violations.push(
          ...not.map(
            ({ call, word }) =>
              `${fault.name}: ${call.name} was ${word} ${Math.round((sentAt - since) / 1_000)} s ${when}`,
          ),
        );
        return sentAt - since;
      }
      await sleep(200);
    }
  }

  const pending: Promise<TimedResponse[]>[] = [];
  for (let at = 0; at < waves; at++) {
    if (at > 0) await sleep(pauseMs);
    pending.push(wave());
  }
  for (const { call, sentAt, ms, word, idleMs } of (await Promise.all(pending)).flat()) {
    const expected = fault.expects[call.kind] ?? "served";
    const early = call.kind === "serving" && sentAt - begun < noticedWithinMs;
    if (expected === "either" || early || word === expected || !["served", "unavailable"].includes(word)) continue;
    if (word === "unavailable" && (ms > deadlineMs || call.kind === "serving") && idleMs > slowIdleMs) unchecked += 1;
    else violations.push(`${fault.name}: ${call.name} was ${word}, not ${expected}`);
  }
  if (fault.heals === true) await served(begun, "into the fault");
  await end();
  const recoveryMs = await served(performance.now(), "after it ended");
  for (const write of ledger.unacknowledged.splice(0)) {
    const word = await surfaces.write(write);
    if (word !== "served") violations.push(`${fault.name}: ${write.wire} ${write.rpc} was ${word} when retried`);
  }
  return { slowestMs, recoveryMs, unchecked, violations };
}

/** Sends all requests at once and does not wait for those that exceed their time. */
async function requestAll({ calls, idle }: Surfaces): Promise<TimedResponse[]> {
  let idleMs = 0;
  let over = false;
  const watch = (async () => {
    while (!over) {
      const sentAt = performance.now();
      await idle().catch(() => undefined);
      idleMs = Math.max(idleMs, performance.now() - sentAt);
      await sleep(idleEveryMs);
    }
  })();
  const timeUp = async (sentAt: number): Promise<Word> => {
    for (let left = respondWithinMs; left > 0; left = sentAt + respondWithinMs + turns * idleMs - performance.now())
      await sleep(left);
    return "no response in time";
  };
  const responses = await Promise.all(
    calls.map(async (call): Promise<Omit<TimedResponse, "idleMs">> => {
      const sentAt = performance.now();
      const word = await Promise.race([call.send(), timeUp(sentAt)]);
      return { call, sentAt, ms: performance.now() - sentAt, word };
    }),
  );
  over = true;
  await watch;
  return responses.map((response) => ({ ...response, idleMs }));
}
