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
