// Runs one fault against an instance and checks every response during and after it.
import { setTimeout as sleep } from "node:timers/promises";
import type { Fault } from "./faults.ts";
import type { Call, Ledger, Surfaces, Word } from "./surfaces.ts";

/** How a fault is suffered. */
export interface Trial {
  /** How often everything is requested while the fault lasts, and milliseconds from one time to the next. */
  readonly waves: number;
  readonly pauseMs: number;
}

/** What was seen of a fault. */
export interface Seen {
  readonly slowestMs: number;
  /** From the end of the fault to the first time that everything was requested and served. */
  readonly recoveryMs: number;
  /**
   * Requests that got 503 at their deadline, while not even an idle one was served
   * quickly: whose fault that is nobody can know.
   */
  readonly unchecked: number;
  readonly violations: readonly string[];
}

interface TimedResponse {
  readonly call: Call;
  readonly sentAt: number;
  readonly ms: number;
  readonly word: Word;
  /** Of the slowest idle request at the same time. */
  readonly idleMs: number;
}

/** Every request is served within it. */
const respondWithinMs = 6_000;
/** Everything is right again within it. */
const recoverWithinMs = 15_000;
/** Whatever reports the state of MongoDB has to have noticed; a request reaches MongoDB itself. */
const noticedWithinMs = 2_500;
const idleEveryMs = 250;
/** A little less than the service's deadline of 4.8 seconds. */
const deadlineMs = 4_500;
/** An idle request takes a few milliseconds. */
const slowIdleMs = 250;
/**
 * On a busy machine a response waits as an idle request does: when it comes in, at its deadline, and when it goes out.
 */
const turns = 3;
const warmWithinMs = 120_000;

/** Requests one thing after the other, each until it is served, so that nothing is new to the instance. */
export async function warmUp({ calls }: Surfaces): Promise<void> {
  const until = performance.now() + warmWithinMs;
  for (const call of calls) {
    for (let word = await call.send(); word !== "served"; word = await call.send()) {
      if (performance.now() > until) throw new Error(`before anything is broken ${call.name} is ${word}`);
      await sleep(100);
    }
  }
}

/** Suffers the fault; the instance that gets the requests is the same afterwards. */
export async function suffer(
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
  /** Milliseconds from `since` until everything was served. */
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
    else violations.push(`${fault.name}: ${call.name} was ${word}, and not ${expected}`);
  }
  if (fault.heals === true) await served(begun, "into the fault");
  await end();
  const recoveryMs = await served(performance.now(), "after it ended");
  for (const write of ledger.unacknowledged.splice(0)) {
    const word = await surfaces.write(write);
    if (word !== "served")
      violations.push(`${fault.name}: ${write.wire} ${write.rpc} was ${word} when it was sent again`);
  }
  return { slowestMs, recoveryMs, unchecked, violations };
}

/** Requests everything at once. Who is not served in time is not waited for. */
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
  const patience = async (sentAt: number): Promise<Word> => {
    for (let left = respondWithinMs; left > 0; left = sentAt + respondWithinMs + turns * idleMs - performance.now())
      await sleep(left);
    return "nothing at all";
  };
  const responses = await Promise.all(
    calls.map(async (call): Promise<Omit<TimedResponse, "idleMs">> => {
      const sentAt = performance.now();
      const word = await Promise.race([call.send(), patience(sentAt)]);
      return { call, sentAt, ms: performance.now() - sentAt, word };
    }),
  );
  over = true;
  await watch;
  return responses.map((response) => ({ ...response, idleMs }));
}
