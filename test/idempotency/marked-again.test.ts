// The marks of erased responses in Redis, which a failover may lose: they are set a second time.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { KeyCommands, RedisLink } from "../../src/db/redis.ts";
import { timersLeftBy } from "../support/own-timers.ts";
import { eraseKept } from "../../src/guards/reservations.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a response is marked as erased at once, and again when a failover that may have lost the mark is over [IDM-15]", async () => {
  const { link, kept } = linkThatKeeps();
  await eraseKept(link, ["one", "two"]);
  const mark = kept.get("idempotency:one");
  expect([...kept]).toEqual([
    ["idempotency:one", mark],
    ["idempotency:two", mark],
  ]);
  kept.set("idempotency:one", "a response that a failover brought back");
  await vi.advanceTimersByTimeAsync(59_000);
  expect(kept.get("idempotency:one")).not.toBe(mark);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(kept.get("idempotency:one")).toBe(mark);
});

test("a mark that the deletion of its account has removed does not come back [IDM-15, ADM-04]", async () => {
  const { link, kept } = linkThatKeeps();
  await eraseKept(link, ["one", "two"]);
  kept.delete("idempotency:one");
  await vi.advanceTimersByTimeAsync(61_000);
  expect([...kept.keys()]).toEqual(["idempotency:two"]);
});

/** A Redis, and what it keeps. */
function linkThatKeeps(): { link: RedisLink; kept: Map<string, string> } {
  const kept = new Map<string, string>();
  const commands = (key: string): Pick<KeyCommands, "set" | "replace"> => ({
    set: async (value) => kept.set(key, value),
    replace: async (value) => kept.has(key) && kept.set(key, value),
  });
  const link: Pick<RedisLink, "attempt"> = { attempt: (key, command) => command(commands(key) as KeyCommands) };
  return { link: link as RedisLink, kept };
}

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
