// The turns of clients, and the work of one connection in order.
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createFairQueue, createSerialQueue } from "../../src/call/fair-queue.ts";

test("clients take turns, however much of one waits [OPS-70]", async () => {
  const schedule = createFairQueue(0);
  const ran: string[] = [];
  for (const client of ["a", "a", "a", "b", "c", "b"]) schedule(() => void ran.push(client), client);
  await nextTurn();
  expect(ran).toEqual(["a"]);
  while (ran.length < 6) await nextTurn();
  expect(ran).toEqual(["a", "b", "c", "a", "b", "a"]);
});

test("while connections arrive, most turns leave Node time to accept them, but some work runs [OPS-70]", async () => {
  let accepted = 0;
  const schedule = createFairQueue(0, () => accepted);
  let ran = 0;
  for (let item = 0; item < 20; item++) schedule(() => void (ran += 1));
  const turns = async (count: number, arriving: number): Promise<number> => {
    const before = ran;
    for (let turn = 0; turn < count; turn++) {
      accepted += arriving;
      await nextTurn();
    }
    return ran - before;
  };
  expect(await turns(45, 1)).toBe(5);
  expect(await turns(5, 0)).toBe(5);
});

test("work that does nothing, as for a stream that has closed, takes no turn from others [OPS-70]", () => {
  const scheduled: (() => void)[] = [];
  const ran: string[] = [];
  let isLate = false;
  const add = createSerialQueue(
    (work) => void scheduled.push(work),
    () => isLate,
  );
  const queue = (name: string, isDone: boolean): void => add(() => ran.push(name) > 0 && isDone);
  for (const [name, isDone] of [
    ["a", true],
    ["closed", false],
    ["closed too", false],
    ["b", true],
    ["c", true],
  ] as const)
    queue(name, isDone);
  const turn = (): string[] => {
    scheduled.shift()?.();
    return ran.splice(0);
  };
  expect(turn()).toEqual(["a"]);
  isLate = true;
  expect(turn()).toEqual([]);
  isLate = false;
  expect([turn(), turn(), turn()]).toEqual([["closed", "closed too", "b"], ["c"], []]);
});
