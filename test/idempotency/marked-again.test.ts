// The marks of erased responses in Redis, which a failover may lose: they are set a second time.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { KeyCommands, RedisLink } from "../../src/db/redis.ts";
import { timersLeftBy } from "../support/own-timers.ts";
import { eraseKept } from "../../src/guards/reservations.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a response is marked as erased at once, and again when a failover that may have lost the mark is over [IDM-15]", async () => {
  const marked: string[] = [];
  const link: Pick<RedisLink, "attempt"> = {
    attempt: (key, command) =>
      command({ set: () => Promise.resolve(marked.push(key)) } satisfies Pick<KeyCommands, "set"> as never),
  };
  await eraseKept(link as RedisLink, ["one", "two"]);
  const both = ["idempotency:one", "idempotency:two"];
  expect(marked).toEqual(both);
  await vi.advanceTimersByTimeAsync(59_000);
  expect(marked).toEqual(both);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(marked).toEqual([...both, ...both]);
});

/** A Redis that is away until `away` is false, and counts the commands. */
function linkThatIsAway(): { link: RedisLink; state: { away: boolean; commands: number } } {
  const state = { away: true, commands: 0 };
  const attempt = (): Promise<string | undefined> => {
    state.commands += 1;
    return Promise.resolve(state.away ? undefined : "OK");
  };
  return { link: { attempt } as unknown as RedisLink, state };
}

test("while Redis is away a response is marked again every second, until it is marked [IDM-15]", async () => {
  const { link, state } = linkThatIsAway();
  await eraseKept(link, ["one"]);
  await vi.advanceTimersByTimeAsync(2_500);
  expect(state.commands).toBe(3);
  state.away = false;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(state.commands).toBe(4);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(state.commands).toBe(5);
});

test("nobody marks a response for longer than Redis keeps it [IDM-15]", async () => {
  const { link, state } = linkThatIsAway();
  await eraseKept(link, ["one"]);
  await vi.advanceTimersByTimeAsync(3_599_000);
  expect(state.commands).toBeGreaterThan(3_500);
  await vi.advanceTimersByTimeAsync(5_000);
  const { commands } = state;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(state.commands).toBe(commands);
});

test("without Redis there is nothing to mark", async () => {
  expect(await timersLeftBy(() => eraseKept(undefined, ["one"]))).toBe(0);
});
