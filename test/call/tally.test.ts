// The tally of a request: what a failed request waited for.
import { expect, test } from "vitest";
import { createTally, spentBy, timed, waitOf } from "../../src/call/tally.ts";

const failing = (error: Error) => (): Promise<never> => Promise.reject(error);

test("names the wait that failed, even if another wait followed [OPS-26]", async () => {
  const tally = createTally();
  await expect(timed(tally, "dbMs", "mongodb aggregate api_keys", failing(new Error("away")))).rejects.toThrow("away");
  await timed(tally, "redisMs", "redis", () => Promise.resolve());
  expect(waitOf(tally)).toBe("mongodb aggregate api_keys");
});

test("names the innermost of nested waits, and the last of several that failed [OPS-26]", async () => {
  const tally = createTally();
  await timed(tally, "dbMs", "mongodb find contacts", failing(new Error("first"))).catch(() => undefined);
  const second = new Error("second");
  await timed(tally, "queueMs", "a slot", () => timed(tally, "redisMs", "redis", failing(second))).catch(
    () => undefined,
  );
  expect(waitOf(tally)).toBe("redis");
});

test("a wait that has not ended comes first, with its time so far [OPS-25, OPS-26]", async () => {
  const tally = createTally();
  let end: () => void = () => undefined;
  const waiting = timed(
    tally,
    "providerMs",
    "the identity provider",
    () => new Promise<void>((resolve) => (end = resolve)),
  );
  await new Promise((soon) => setTimeout(soon, 5));
  expect(waitOf(tally)).toBe("the identity provider");
  expect(spentBy(tally).providerMs).toBeGreaterThan(0);
  end();
  await waiting;
  expect([tally.waits, waitOf(tally)]).toEqual([[], "the identity provider"]);
});
