// The bound on concurrent work, in memory: who waits, who is rejected, and who gets a slot that becomes free.
import { expect, test, vi } from "vitest";
import type { Deadline } from "../../src/call/deadline.ts";
import { deadlineIn } from "../../src/call/deadline.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import type { BoundedCapacity, CredentialState } from "../../src/guards/capacity.ts";
import { createCapacity } from "../../src/guards/capacity.ts";
import { waiting } from "./made.ts";
import { createTally } from "../../src/call/tally.ts";

/** Work that runs until `end` is called. */
function held(): { readonly work: () => Promise<void>; readonly begun: () => boolean; end(): void } {
  let began = false;
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  return {
    work() {
      began = true;
      return ended;
    },
    begun: () => began,
    end: () => end(),
  };
}

/** Returns how many requests of such callers are identified at a time until another one is too many. */
async function countIdentified(capacity: BoundedCapacity, credential: CredentialState): Promise<number> {
  const identified = held();
  const all: Promise<void>[] = [];
  while (!capacity.isFull(credential)) all.push(capacity.identify(credential, identified.work));
  expect(capacity.state().identifying).toBe(all.length);
  identified.end();
  await Promise.all(all);
  return all.length;
}

const later = (): Deadline => deadlineIn(60_000);
const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const tooMany = "The service is handling too many requests. Try again.";

test("finished or failed work frees its slot for the longest waiting request [RTE-22]", async () => {
  let rejections = 0;
  const capacity = createCapacity(2, () => (rejections += 1), waiting(2));
  const [first, second, third, fourth] = [held(), held(), held(), held()];
  const done = [
    capacity.run("verified", later(), first.work),
    capacity.run("verified", later(), () => second.work().then(() => Promise.reject(new Error("no")))),
  ];
  const queued = [capacity.run("verified", later(), third.work), capacity.run("verified", later(), fourth.work)];
  await expect(capacity.run("verified", later(), held().work)).rejects.toThrow(tooMany);
  expect([rejections, third.begun(), capacity.isFull("verified")]).toEqual([1, false, true]);
  second.end();
  await expect(done[1]).rejects.toThrow("no");
  expect([third.begun(), fourth.begun()]).toEqual([true, false]);
  expect(capacity.isFull("verified")).toBe(false);
  for (const { end } of [first, third, fourth]) end();
  await Promise.all([done[0], ...queued]);
  expect([fourth.begun(), rejections]).toEqual([true, 1]);
});

test("a request whose deadline passes or whose client disconnects in the queue is rejected for that reason, and never starts [RTE-22]", async () => {
  let rejections = 0;
  const capacity = createCapacity(1, () => (rejections += 1));
  const [first, late, past] = [held(), held(), held()];
  const done = capacity.run("verified", later(), first.work);
  await expect(capacity.run("verified", deadlineIn(5, {}, createTally()), late.work)).rejects.toMatchObject({
    reason: Reason.UNAVAILABLE,
    because: "deadline",
    waitingFor: "a slot",
  });
  await expect(
    capacity.run("verified", deadlineIn(60_000, { expiresAt: performance.now() + 5 }), late.work),
  ).rejects.toMatchObject({ reason: Reason.DEADLINE_EXCEEDED });
  let gone = false;
  const left = capacity.run(
    "verified",
    deadlineIn(60_000, {
      cancellation: {
        get requested() {
          return gone;
        },
        signal: new AbortController().signal,
      },
    }),
    late.work,
  );
  gone = true;
  first.end();
  await done;
  await expect(left).rejects.toMatchObject({ reason: Reason.CANCELLED });
  await expect(capacity.run("verified", deadlineIn(-1), past.work)).rejects.toMatchObject({
    reason: Reason.UNAVAILABLE,
  });
  expect([late.begun(), past.begun(), rejections]).toEqual([false, false, 2]);
  await capacity.run("verified", later(), () => Promise.resolve());
});

test("unknown clients get at most half of the slots and at least one; known credentials get the others [RTE-23]", async () => {
  const capacity = createCapacity(4, () => undefined);
  const strangers = Array.from({ length: 5 }, held);
  const running = strangers.map(({ work }) => capacity.run("unverified", later(), work));
  const known = Array.from({ length: 3 }, held);
  running.push(...known.map(({ work }) => capacity.run("verified", later(), work)));
  const begun = (): boolean[] => [...strangers, ...known].map((one) => one.begun());
  expect(begun()).toEqual([true, true, false, false, false, true, true, false]);
  known[0]?.end();
  await soon();
  expect(begun()).toEqual([true, true, false, false, false, true, true, true]);
  strangers[0]?.end();
  await soon();
  expect(begun()).toEqual([true, true, true, false, false, true, true, true]);
  for (const { end } of [...strangers, ...known]) end();
  await Promise.all(running);
  const one = createCapacity(1, () => undefined);
  await one.run("unverified", later(), () => Promise.resolve());
});

test("unbounded work counts towards the bound [RTE-22]", async () => {
  const capacity = createCapacity(1, () => undefined);
  const [free, bounded] = [held(), held()];
  const running = [
    capacity.count(free.work),
    capacity.count(free.work),
    capacity.run("verified", later(), bounded.work),
  ];
  expect([free.begun(), bounded.begun()]).toEqual([true, false]);
  free.end();
  await soon();
  expect(bounded.begun()).toBe(true);
  bounded.end();
  await Promise.all(running);
});

test("a slot goes to the request that has waited longest and is allowed to have it, known or not [RTE-23]", async () => {
  const capacity = createCapacity(2, () => undefined);
  const order: string[] = [];
  const [first, second] = [held(), held()];
  const running = [capacity.run("verified", later(), first.work), capacity.run("unverified", later(), second.work)];
  const wait = (credential: "verified" | "unverified", name: string): Promise<void> =>
    capacity.run(credential, later(), () => Promise.resolve(void order.push(name)));
  const queued = [
    wait("unverified", "unverified 1"),
    wait("verified", "verified 1"),
    wait("unverified", "unverified 2"),
  ];
  queued.push(wait("verified", "verified 2"));
  expect(capacity.state()).toEqual({ working: { verified: 1, unverified: 1 }, slots: 2, waiting: 4, identifying: 0 });
  second.end();
  await Promise.all([...queued, running[1]]);
  expect(order).toEqual(["unverified 1", "verified 1", "unverified 2", "verified 2"]);
  expect(capacity.state()).toEqual({ working: { verified: 1, unverified: 0 }, slots: 2, waiting: 0, identifying: 0 });
  first.end();
  await running[0];
});

test("24 requests with a verified credential wait, and 256 without; the next one is rejected with the overload as its cause [RTE-22, RTE-23]", async () => {
  const [narrow, wide] = [createCapacity(1, () => undefined), createCapacity(40, () => undefined)];
  const counts = [narrow, wide].flatMap((capacity) =>
    (["verified", "unverified"] as const).map((credential) => [capacity, credential] as const),
  );
  const identified: number[] = [];
  for (const count of counts) identified.push(await countIdentified(...count));
  expect(identified).toEqual([25, 25, 54, 44]);
  const capacity = narrow;
  const first = held();
  const running = [capacity.run("verified", later(), first.work)];
  const work = (): Promise<void> => Promise.resolve();
  for (const credential of ["verified", "unverified"] as const) {
    for (let turn = 0; turn < { verified: 24, unverified: 256 }[credential]; turn++)
      running.push(capacity.run(credential, later(), work));
    await expect(capacity.run(credential, later(), work)).rejects.toMatchObject({
      reason: Reason.UNAVAILABLE,
      because: "overload",
      waitingFor: "a slot",
    });
  }
  expect(capacity.state().waiting).toBe(280);
  first.end();
  await Promise.all(running);
  expect(capacity.state()).toEqual({ working: { verified: 0, unverified: 0 }, slots: 1, waiting: 0, identifying: 0 });
});

test("of the places in which unknown callers wait for their turn, one address gets two thirds [RTE-23]", () => {
  const capacity = createCapacity(4, () => undefined);
  const countExpected = (caller: string): number => {
    let count = 0;
    while (!capacity.isFull("unverified") && capacity.expect("unverified", caller) !== undefined) count++;
    return count;
  };
  expect([countExpected("a"), capacity.isFull("unverified")]).toEqual([172, false]);
  expect([countExpected("b"), capacity.isFull("unverified")]).toEqual([86, true]);
  expect(capacity.isFull("verified")).toBe(false);
});

test("a request waits for a slot until its deadline, and no longer than half a second; its tally has the time [RTE-22]", async () => {
  vi.useFakeTimers();
  vi.advanceTimersByTime(5_000);
  try {
    const capacity = createCapacity(1, () => undefined);
    const first = held();
    const done = capacity.run("verified", later(), first.work);
    const rejected: string[] = [];
    const tally = createTally();
    capacity.run("verified", deadlineIn(200), held().work).catch(() => rejected.push("deadline"));
    const late = capacity.run("verified", deadlineIn(60_000, {}, tally), held().work).catch((error: unknown) => {
      rejected.push("half a second");
      return error;
    });
    await vi.advanceTimersByTimeAsync(199);
    expect(rejected).toEqual([]);
    await vi.advanceTimersByTimeAsync(2);
    expect(rejected).toEqual(["deadline"]);
    await vi.advanceTimersByTimeAsync(301);
    expect(rejected).toEqual(["deadline", "half a second"]);
    expect(await late).toMatchObject({ reason: Reason.UNAVAILABLE, because: "overload" });
    expect([capacity.state().waiting, tally.queueMs]).toEqual([0, expect.closeTo(500, -1)]);
    first.end();
    await done;
  } finally {
    vi.useRealTimers();
  }
});
