// The marks of erased responses in Redis, which a failover may lose: they are set a second time.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { KeyCommands, RedisLink } from "../../src/db/redis.ts";
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
