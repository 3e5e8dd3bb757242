// Serial queues: the work of one connection in order, one item in each turn.
import { expect, test } from "vitest";
import { createSerialQueue } from "../../src/call/fair-queue.ts";

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
