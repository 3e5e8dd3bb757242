// The slots for huge responses, and the queue of the reads whose results can be huge.
import { afterEach, describe, expect, test } from "vitest";
import { deadlineIn } from "../../src/call/deadline.ts";
import { Reason } from "../../src/gen/records/v1/errors_pb.ts";
import { limitConcurrentReads, maxReads } from "../../src/large/reads.ts";
import { maxHuge, maxPerAccount, requireSlotForHuge, takeSlotIfExpected } from "../../src/large/slots.ts";
import { createTally } from "../../src/call/tally.ts";

describe("huge responses", () => {
  const ends: (() => void)[] = [];
  function startRead(account: string, isOver = false): void {
    const tally = { ...createTally(), account };
    tally.onEnd = (release) => {
      if (!isOver) ends.push(release);
      return !isOver;
    };
    requireSlotForHuge(tally);
    // A request takes one place, however often it requests one.
    requireSlotForHuge(tally);
  }
  const fill = (): void => {
    for (let number = 0; number < maxHuge; number++) startRead(`account ${number}`);
  };
  afterEach(() => {
    for (const end of ends.splice(0)) end();
  });

  test("are rejected if there is one too many at a time; a slot is free again once a request has ended", () => {
    fill();
    expect(() => startRead("another")).toThrow(/large responses/);
    // Nobody bounds the services inside.
    expect(() => requireSlotForHuge(createTally())).not.toThrow();
    ends.pop()?.();
    startRead("another");
    expect(() => startRead("one more")).toThrow(/large responses/);
  });

  test("cannot take all slots for one account", () => {
    for (let number = 0; number < maxPerAccount; number++) startRead("greedy");
    expect(() => startRead("greedy")).toThrow(/large responses/);
    expect(() => startRead("modest")).not.toThrow();
    ends.shift()?.();
    expect(() => startRead("greedy")).not.toThrow();
  });

  test("take the slots that their account may have before its next reads; other accounts need none", () => {
    const read = (account: string) => {
      const tally = { ...createTally(), account };
      tally.onEnd = (release) => {
        ends.push(release);
        return true;
      };
      return takeSlotIfExpected(tally);
    };
    for (let number = 0; number < 3 * maxHuge; number++) expect(read("small")).toBeDefined();
    expect(ends).toEqual([]);
    startRead("large");
    for (let number = 1; number < maxPerAccount; number++) expect(read("large")).toBeDefined();
    expect(read("large")).toBeUndefined();
    expect(read("small")).toBeDefined();
  });

  test("take no slot after the end of their request, though one was reserved", () => {
    startRead("closed");
    ends.pop()?.();
    let isOver = false;
    const tally = {
      ...createTally(),
      account: "closed",
      onEnd: (release: () => void) => !isOver && ends.push(release) > 0,
    };
    takeSlotIfExpected(tally);
    isOver = true;
    ends.pop()?.();
    expect(() => requireSlotForHuge(tally)).toThrow(expect.objectContaining({ reason: Reason.CANCELLED }));
    expect(fill).not.toThrow();
  });

  test("take no slot if their request has ended already", () => {
    for (let number = 0; number < 3 * maxHuge; number++) expect(() => startRead("gone", true)).toThrow();
    expect(fill).not.toThrow();
  });
});

describe("reads whose results can be huge", () => {
  function caller(account: string, ms = 10_000) {
    const tally = { ...createTally(), account, onEnd: () => true };
    return deadlineIn(ms, {}, tally);
  }
  /** Reads of one account, each of which ends on a call. */
  function readers(account: string, count: number, ms?: number) {
    const started: (() => void)[] = [];
    const read = (): Promise<void> => new Promise((end) => started.push(end));
    const ended = Array.from({ length: count }, () => limitConcurrentReads(caller(account, ms), read));
    return { started, ended };
  }

  test("run a few at a time for one account, the others in their order; those of another account run at once", async () => {
    const { started, ended } = readers("busy", maxReads + 2);
    expect(started).toHaveLength(maxReads);
    const other = readers("other", 1);
    expect(other.started).toHaveLength(1);
    started[0]?.();
    await ended[0];
    await expect.poll(() => started.length).toBe(maxReads + 1);
    started.forEach((end) => end());
    await expect.poll(() => started.length).toBe(maxReads + 2);
    for (const end of [...started, ...other.started]) end();
    await Promise.all([...ended, ...other.ended]);
  });

  test("let the next one in when one fails or exceeds its deadline", async () => {
    const { started, ended } = readers("failing", maxReads);
    const failing = limitConcurrentReads(caller("failing"), () => Promise.reject(new Error("no")));
    const late = limitConcurrentReads(caller("failing", 1), () => Promise.resolve("late"));
    const last = limitConcurrentReads(caller("failing"), () => Promise.resolve("last"));
    const outcomes = Promise.allSettled([failing, late, last]);
    await new Promise((resolve) => setTimeout(resolve, 5));
    started[0]?.();
    expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
    started.forEach((end) => end());
    await Promise.all(ended);
  });

  test("leave the queue at their deadline, though no other read ends", async () => {
    const { started, ended } = readers("stuck", maxReads);
    const late = limitConcurrentReads(caller("stuck", 1), () => Promise.resolve("late"));
    await expect(late).rejects.toMatchObject({ reason: Reason.UNAVAILABLE, because: "deadline" });
    started.forEach((end) => end());
    await Promise.all(ended);
    const next = readers("stuck", maxReads);
    expect(next.started).toHaveLength(maxReads);
    next.started.forEach((end) => end());
    await Promise.all(next.ended);
  });

  test("free the slot of an expected huge result that is small, and keep that of a huge one", async () => {
    const account = "mixed";
    const releases: (() => void)[] = [];
    const deadline = () => {
      const tally = { ...createTally(), account, onEnd: (release: () => void) => releases.push(release) > 0 };
      return deadlineIn(10_000, {}, tally);
    };
    const huge = async (): Promise<void> => {
      const own = deadline();
      await limitConcurrentReads(own, async () => requireSlotForHuge(own.tally));
    };
    await huge();
    for (const release of releases.splice(0)) release();
    for (let number = 0; number < 2 * maxPerAccount; number++)
      await limitConcurrentReads(deadline(), () => Promise.resolve("small"));
    for (let number = 0; number < maxPerAccount; number++) await huge();
    await expect(huge()).rejects.toThrow(/large responses/);
    for (const release of releases) release();
  });

  test("run one at a time if a huge result is expected and no slot is free, and only a huge one is rejected", async () => {
    const releases: (() => void)[] = [];
    const takeSlot = (): void => {
      const onEnd = (release: () => void): boolean => releases.push(release) > 0;
      requireSlotForHuge({ ...createTally(), account: "heavy", onEnd });
    };
    for (let place = 0; place < maxPerAccount; place++) takeSlot();
    const { started, ended } = readers("heavy", maxReads);
    expect(started).toHaveLength(1);
    started[0]?.();
    await ended[0];
    await expect.poll(() => started.length).toBe(2);
    const rejected = limitConcurrentReads(caller("heavy"), async () => takeSlot());
    for (let at = 1; at < maxReads; at++) {
      await expect.poll(() => started.length).toBe(at + 1);
      started[at]?.();
    }
    await Promise.all(ended);
    await expect(rejected).rejects.toThrow(/large responses/);
    for (const release of releases) release();
  });
});
