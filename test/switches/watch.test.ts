// How an instance follows the operator's switches: the read of the last confirmed primary counts.
import { expect, test, vi } from "vitest";
import { createLease } from "../../src/db/lease.ts";
import { createPrimary } from "../../src/db/primary.ts";
import type { SwitchDocument } from "../../src/switches/store.ts";
import { watchSwitches } from "../../src/switches/store.ts";

/** A confirmation that was requested and has no response yet. */
interface PendingProof {
  resolve(documents: SwitchDocument[]): void;
  reject(error: Error): void;
}

/** A primary whose confirmations and responses the test triggers. */
function heldPrimary() {
  const proofs: PendingProof[] = [];
  const lease = createLease();
  lease.observe({ address: "a", electionId: "1", alone: true });
  const { primary, stop } = createPrimary(
    lease,
    () =>
      new Promise((resolve, reject) =>
        proofs.push({
          resolve: (switches) => resolve({ switches, electionId: "1", localTime: 0, readAt: 0 }),
          reject,
        }),
      ),
  );
  stop();
  return { primary, proofs };
}

function writes(enabled: boolean): SwitchDocument[] {
  return [{ _id: "writes", enabled, reason: "", changed_at: new Date() }];
}

test("a response that a later request overtook does not reset a switch [ADM-06]", async () => {
  const { primary, proofs } = heldPrimary();
  const starting = watchSwitches(primary);
  proofs[0]?.resolve([]);
  const watch = await starting;

  const [before, after] = [watch.refresh(), watch.refresh()];
  proofs[2]?.resolve(writes(false));
  await after;
  expect([watch.state().writes, watch.reachable()]).toEqual([false, true]);
  proofs[1]?.resolve(writes(true));
  await before;
  expect(watch.state().writes).toBe(false);

  const [failing, later] = [watch.refresh(), watch.refresh()];
  proofs[4]?.resolve(writes(true));
  await later;
  proofs[3]?.reject(new Error("gone"));
  await failing;
  expect([watch.state().writes, watch.reachable()]).toEqual([true, true]);
});

test("the switches stay as they were while MongoDB cannot be reached", async () => {
  const { primary, proofs } = heldPrimary();
  const starting = watchSwitches(primary);
  proofs[0]?.resolve(writes(false));
  const watch = await starting;
  const refreshing = watch.refresh();
  proofs[1]?.reject(new Error("gone"));
  await refreshing;
  expect([watch.state(), watch.reachable()]).toEqual([{ publicInterface: true, writes: false }, false]);
});

test("switches that were not read within 1.35 seconds stop what depends on them, as they may have changed since [ADM-06, CON-04]", async () => {
  const clock = vi.spyOn(performance, "now").mockReturnValue(10_000);
  try {
    const { primary, proofs } = heldPrimary();
    const starting = watchSwitches(primary);
    expect(proofs.length).toBe(1);
    proofs[0]?.resolve(writes(true));
    const watch = await starting;
    clock.mockReturnValue(11_349);
    expect(() => watch.requireFresh()).not.toThrow();
    clock.mockReturnValue(11_350);
    expect(() => watch.requireFresh()).toThrow();
    const refreshing = watch.refresh();
    proofs[1]?.reject(new Error("gone"));
    await refreshing;
    expect(() => watch.requireFresh()).toThrow();
  } finally {
    clock.mockRestore();
  }
});

test("a request that is rejected for stale switches names the lost lease, once it is lost [ADM-06, OPS-26]", async () => {
  const clock = vi.spyOn(performance, "now").mockReturnValue(10_000);
  try {
    const { primary, proofs } = heldPrimary();
    const starting = watchSwitches(primary);
    proofs[0]?.resolve([]);
    const watch = await starting;
    const waitingFor = "the primary's lease";
    clock.mockReturnValue(12_999);
    expect(watch.requireFresh).toThrow(expect.objectContaining({ because: "stale switches", waitingFor }));
    clock.mockReturnValue(13_000);
    expect(watch.requireFresh).toThrow(expect.objectContaining({ because: "no lease", waitingFor }));
  } finally {
    clock.mockRestore();
  }
});

test("a request waits for fresh switches for a second at most, and not once MongoDB has been silent for five [ADM-06]", async () => {
  vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] });
  try {
    const { primary, proofs } = heldPrimary();
    const starting = watchSwitches(primary);
    proofs[0]?.resolve(writes(true));
    const watch = await starting;
    const over: string[] = [];
    const wait = (name: string): void => void watch.waitUntilFresh()?.then(() => over.push(name));
    await vi.advanceTimersByTimeAsync(1_349);
    expect(watch.waitUntilFresh()).toBeUndefined();

    await vi.advanceTimersByTimeAsync(1);
    wait("first");
    await vi.advanceTimersByTimeAsync(600);
    wait("second");
    await vi.advanceTimersByTimeAsync(399);
    expect(over).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    await new Promise(setImmediate);
    expect(over).toEqual(["first"]);
    expect(() => watch.requireFresh()).toThrow();

    const refreshing = watch.refresh();
    proofs[1]?.resolve(writes(false));
    await refreshing;
    await new Promise(setImmediate);
    expect(over).toEqual(["first", "second"]);
    expect([watch.waitUntilFresh(), watch.state().writes]).toEqual([undefined, false]);

    await vi.advanceTimersByTimeAsync(5_000);
    wait("last");
    await vi.advanceTimersByTimeAsync(1_000);
    await new Promise(setImmediate);
    expect(over).toEqual(["first", "second", "last"]);
    expect(watch.waitUntilFresh()).toBeUndefined();
  } finally {
    vi.restoreAllMocks();
    vi.useRealTimers();
  }
});

test("at most 512 requests wait, and continue in turn with everything else [ADM-06]", async () => {
  const clock = vi.spyOn(performance, "now").mockReturnValue(10_000);
  try {
    const { primary, proofs } = heldPrimary();
    const starting = watchSwitches(primary);
    proofs[0]?.resolve([]);
    const watch = await starting;
    clock.mockReturnValue(12_000);
    let done = 0;
    for (let turn = 0; turn < 512; turn++) void watch.waitUntilFresh()?.then(() => done++);
    expect(watch.waitUntilFresh()).toBeUndefined();
    const refreshing = watch.refresh();
    proofs[1]?.resolve([]);
    await refreshing;
    // Those who have not continued yet still count.
    clock.mockReturnValue(14_000);
    expect(watch.waitUntilFresh()).toBeUndefined();
    const afterEachTurn: number[] = [];
    while (done < 512) {
      await new Promise(setImmediate);
      afterEachTurn.push(done);
    }
    expect(afterEachTurn.slice(0, 3)).toEqual([1, 2, 3]);
  } finally {
    clock.mockRestore();
  }
});
