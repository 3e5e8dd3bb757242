// Background writes: batched, not lost while the database is briefly unavailable, and not kept forever.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createBatchWriter } from "../../src/db/batch-writer.ts";
import { timersLeftBy } from "../support/own-timers.ts";

const ignore = (): void => undefined;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("writes what is added within a short time together, once", async () => {
  const written: (readonly string[])[] = [];
  const writer = createBatchWriter<string>(100, (items) => Promise.resolve(written.push(items)), ignore);
  for (const item of ["one", "two"]) writer.add(item);
  expect(written).toEqual([]);
  await vi.advanceTimersByTimeAsync(100);
  writer.add("three");
  await writer.flush();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(written).toEqual([["one", "two"], ["three"]]);
});

test("flush waits for the items that are being written as well", async () => {
  let arrive: () => void = () => undefined;
  const writer = createBatchWriter<string>(100, () => new Promise<void>((resolve) => (arrive = resolve)), ignore);
  writer.add("one");
  await vi.advanceTimersByTimeAsync(100);
  let flushed = false;
  const flushing = writer.flush().then(() => (flushed = true));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(flushed).toBe(false);
  arrive();
  await flushing;
});

test("writes items that could not be written later, before newer ones; flush rejects until then", async () => {
  const written: string[] = [];
  let away = true;
  const writer = createBatchWriter<string>(
    100,
    async (items) => {
      if (away) throw new Error("away");
      written.push(...items);
    },
    ignore,
  );
  writer.add("one");
  await expect(writer.flush()).rejects.toThrow("away");
  writer.add("two");
  await vi.advanceTimersByTimeAsync(5_000);
  away = false;
  await vi.advanceTimersByTimeAsync(100);
  expect(written).toEqual(["one", "two"]);
});

test("gives up items that cannot be written for 20 seconds, so that nothing of a deleted account returns, and reports it", async () => {
  let tries = 0;
  const lost: unknown[] = [];
  const writer = createBatchWriter<string>(
    1_000,
    () => Promise.reject(new Error(`away, ${++tries}`)),
    (error) => lost.push(error),
  );
  writer.add("one");
  await vi.advanceTimersByTimeAsync(15_000);
  expect(lost).toEqual([]);
  await vi.advanceTimersByTimeAsync(15_000);
  const tried = tries;
  expect(tried).toBeGreaterThan(10);
  expect(lost).toEqual([new Error(`away, ${tried}`)]);
  expect(await timersLeftBy(() => writer.flush())).toBe(0);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(tries).toBe(tried);
});

const failing = (): Promise<never> => Promise.reject(new Error("no primary"));

test("a stop retries until MongoDB accepts the waiting items", async () => {
  const written: string[] = [];
  let away = true;
  const lost: unknown[] = [];
  const writer = createBatchWriter<string>(
    100,
    async (items) => {
      if (away) throw new Error("no primary");
      written.push(...items);
    },
    (error) => lost.push(error),
  );
  writer.add("one");
  const closing = writer.close(performance.now() + 10_000);
  await vi.advanceTimersByTimeAsync(4_000);
  away = false;
  await vi.advanceTimersByTimeAsync(1_000);
  await closing;
  expect({ written, lost }).toEqual({ written: ["one"], lost: [] });
});

test("a stop reports unwritten items once, when its grace period is over, and retries no more", async () => {
  let tries = 0;
  const lost: unknown[] = [];
  const writer = createBatchWriter<string>(
    100,
    () => (tries++, failing()),
    (error) => lost.push(error),
  );
  writer.add("one");
  let closed = false;
  const closing = writer.close(performance.now() + 10_000).then(() => (closed = true));
  await vi.advanceTimersByTimeAsync(9_500);
  expect({ closed, lost }).toEqual({ closed: false, lost: [] });
  await vi.advanceTimersByTimeAsync(500);
  await closing;
  expect(lost).toEqual([new Error("no primary")]);
  const tried = tries;
  expect(tried).toBeGreaterThan(10);
  await vi.advanceTimersByTimeAsync(30_000);
  expect({ tries, lost: lost.length }).toEqual({ tries: tried, lost: 1 });
});

test("a stop without any grace period tries once, for a second, and does not report later results", async () => {
  let fail: (error: Error) => void = () => undefined;
  const lost: unknown[] = [];
  const writer = createBatchWriter<string>(
    100,
    () => new Promise<void>((_, reject) => (fail = reject)),
    (error) => lost.push(error),
  );
  writer.add("one");
  const closing = writer.close(performance.now());
  await vi.advanceTimersByTimeAsync(1_000);
  await closing;
  expect(lost).toEqual([new Error("no response in time")]);
  fail(new Error("closed"));
  await vi.advanceTimersByTimeAsync(30_000);
  expect(lost).toHaveLength(1);
});

test("a stop with nothing to write ends at once, and items that are added afterwards are reported as lost", async () => {
  const lost: unknown[] = [];
  const writer = createBatchWriter<string>(100, failing, (error) => lost.push(error));
  await writer.close(performance.now() + 10_000);
  expect(lost).toEqual([]);
  writer.add("one");
  expect(lost).toEqual([new Error("added after the stop")]);
});
