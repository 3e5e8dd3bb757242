// How an instance follows the operator's switches: what it was told last by MongoDB counts, in the order in which it asked.
import { expect, test } from "vitest";
import type { SwitchDocument, SwitchStore } from "../../src/switches/store.ts";
import { watchSwitches } from "../../src/switches/store.ts";

/** What the store was asked, to be answered. */
interface Question {
  resolve(documents: SwitchDocument[]): void;
  reject(error: Error): void;
}

/** A store whose answers come when the test gives them. */
function heldStore() {
  const questions: Question[] = [];
  const store: SwitchStore = {
    read: () => new Promise((resolve, reject) => questions.push({ resolve, reject })),
    set: () => Promise.resolve(false),
    changes: () => Promise.resolve([]),
  };
  return { store, questions };
}

function writes(enabled: boolean): SwitchDocument[] {
  return [{ _id: "writes", enabled, reason: "", changed_at: new Date() }];
}

test("an answer that a later question's overtook does not put a switch back [ADM-06]", async () => {
  const { store, questions } = heldStore();
  const starting = watchSwitches(store);
  questions[0]?.resolve([]);
  const watch = await starting;
  watch.stop();

  const [before, after] = [watch.refresh(), watch.refresh()];
  questions[2]?.resolve(writes(false));
  await after;
  expect([watch.state().writes, watch.reachable()]).toEqual([false, true]);
  questions[1]?.resolve(writes(true));
  await before;
  expect(watch.state().writes).toBe(false);

  const [failing, later] = [watch.refresh(), watch.refresh()];
  questions[4]?.resolve(writes(true));
  await later;
  questions[3]?.reject(new Error("gone"));
  await failing;
  expect([watch.state().writes, watch.reachable()]).toEqual([true, true]);
});

test("while MongoDB cannot be asked the switches stay as they were", async () => {
  const { store, questions } = heldStore();
  const starting = watchSwitches(store);
  questions[0]?.resolve(writes(false));
  const watch = await starting;
  watch.stop();
  const asked = watch.refresh();
  questions[1]?.reject(new Error("gone"));
  await asked;
  expect([watch.state(), watch.reachable()]).toEqual([{ publicInterface: true, writes: false }, false]);
});
