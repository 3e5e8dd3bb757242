// The marks of erased responses in Redis: they are set again while Redis is away, and after a failover that may lose
// them.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { KeyCommands, RedisLink } from "../../src/db/redis.ts";
import { eraseCachedResponses } from "../../src/guards/erased-marks.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("marks a response as erased at once, and again after a failover that may have lost the mark [IDM-15]", async () => {
  const { link, kept } = linkThatKeeps();
  await eraseCachedResponses(link, ["one", "two"]);
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

test("a mark that the deletion of its account has removed does not return [IDM-15, ADM-04]", async () => {
  const { link, kept } = linkThatKeeps();
  await eraseCachedResponses(link, ["one", "two"]);
  kept.delete("idempotency:one");
  await vi.advanceTimersByTimeAsync(61_000);
  expect([...kept.keys()]).toEqual(["idempotency:two"]);
});

/** A Redis and what it keeps; while `away` is true it takes nothing. */
function linkThatKeeps(): { link: RedisLink; kept: Map<string, string>; state: { away: boolean } } {
  const kept = new Map<string, string>();
  const state = { away: false };
  const commands = (key: string): Pick<KeyCommands, "set" | "replace"> => ({
    set: async (value) => kept.set(key, value),
    replace: async (value) => kept.has(key) && kept.set(key, value),
  });
  const link: Pick<RedisLink, "attempt"> = {
    attempt: async (key, command) => (state.away ? undefined : command(commands(key) as KeyCommands)),
  };
  return { link: link as RedisLink, kept, state };
}

test("while an instance can still store the response, sets a mark as soon as Redis is back [IDM-21]", async () => {
  const { link, kept, state } = linkThatKeeps();
  state.away = true;
  await eraseCachedResponses(link, ["one"]);
  await vi.advanceTimersByTimeAsync(10_000);
  state.away = false;
  await vi.advanceTimersByTimeAsync(1_000);
  expect([...kept.keys()]).toEqual(["idempotency:one"]);
});

test("once no instance can store the response any more, marks only existing ones: the account may be erased [IDM-21, ADM-04]", async () => {
  const { link, kept, state } = linkThatKeeps();
  state.away = true;
  await eraseCachedResponses(link, ["one", "two"]);
  // Less than the 40 s after which the account's erasure looks through Redis for the last time.
  await vi.advanceTimersByTimeAsync(25_000);
  kept.set("idempotency:two", "a response that Redis has kept");
  state.away = false;
  await vi.advanceTimersByTimeAsync(70_000);
  expect([...kept.keys()]).toEqual(["idempotency:two"]);
  expect(kept.get("idempotency:two")).not.toContain("response");
});

test("sets a mark later if a failover delayed its second write [IDM-21]", async () => {
  const { link, kept, state } = linkThatKeeps();
  await eraseCachedResponses(link, ["one"]);
  await vi.advanceTimersByTimeAsync(55_000);
  state.away = true;
  await vi.advanceTimersByTimeAsync(10_000);
  kept.set("idempotency:one", "a response that the failover brought back");
  state.away = false;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(kept.get("idempotency:one")).not.toContain("response");
});

test("marks the last of more names than an instance remembers while Redis is unavailable [IDM-21]", async () => {
  const { link, kept, state } = linkThatKeeps();
  state.away = true;
  await eraseCachedResponses(
    link,
    Array.from({ length: 100_001 }, (_none, at) => `name ${at}`),
  );
  state.away = false;
  await vi.advanceTimersByTimeAsync(1_000);
  expect([kept.size, kept.has("idempotency:name 0"), kept.has("idempotency:name 1")]).toEqual([100_000, false, true]);
});
