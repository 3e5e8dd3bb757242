// Streams that end with their caller, and hold nothing of what they have passed on.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { setImmediate as turn } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { untilAborted } from "../../src/rpc/streams.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

async function* responses(count: number): AsyncIterable<{ at: number }> {
  for (let at = 0; at < count; at++) yield await Promise.resolve({ at });
}

test("keeps no response that was passed on, however long the stream lasts [ING-06]", async () => {
  const passed: WeakRef<object>[] = [];
  for await (const response of untilAborted(new AbortController().signal, responses(200))) {
    passed.push(new WeakRef(response));
    if (passed.length % 50 !== 0) continue;
    // A weak reference holds its target until the turn is over.
    await turn();
    collect();
    expect(passed.filter((one) => one.deref() !== undefined).length).toBeLessThan(5);
  }
  expect(passed).toHaveLength(200);
});

test("an abort ends the wait for the next response, and the source [ING-06]", async () => {
  const { signal, abort } = controllerOf();
  let ended = false;
  async function* one(): AsyncIterable<number> {
    try {
      yield 1;
      await new Promise(() => undefined);
    } finally {
      ended = true;
    }
  }
  const passed: number[] = [];
  const failed = (async () => {
    for await (const response of untilAborted(signal, one())) passed.push(response);
  })();
  await turn();
  abort(new Error("left"));
  await expect(failed).rejects.toThrow("left");
  expect([passed, ended]).toEqual([[1], false]);
});

test("an abort ends the source while the caller waits to pass a response on, and requests nothing more [ING-06]", async () => {
  const { signal, abort } = controllerOf();
  let ended = false;
  async function* many(): AsyncIterable<number> {
    try {
      for (let at = 0; ; at++) yield await Promise.resolve(at);
    } finally {
      ended = true;
    }
  }
  const passed = untilAborted(signal, many())[Symbol.asyncIterator]();
  expect(await passed.next()).toEqual({ done: false, value: 0 });
  abort(new Error("left"));
  await turn();
  expect(ended).toBe(true);
});

test("an aborted signal passes nothing on; the source's own error does [ING-06]", async () => {
  await expect(collectAll(AbortSignal.abort(new Error("left")), responses(1))).rejects.toThrow("left");
  const broken = { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error("broken")) }) };
  await expect(collectAll(new AbortController().signal, broken)).rejects.toThrow("broken");
});

test("the caller has left: a clean-up of the source that fails ends nothing [ING-06]", async () => {
  const unhandled: unknown[] = [];
  const listener = (error: unknown): void => void unhandled.push(error);
  process.on("unhandledRejection", listener);
  onTestFinished(() => void process.off("unhandledRejection", listener));
  const { signal, abort } = controllerOf();
  let returned = false;
  const source: AsyncIterable<number> = {
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise(() => undefined),
      return: () => ((returned = true), Promise.reject(new Error("no connection"))),
    }),
  };
  const failed = collectAll(signal, source);
  await turn();
  abort(new Error("left"));
  await expect(failed).rejects.toThrow("left");
  await turn();
  expect([returned, unhandled]).toEqual([true, []]);
});

function controllerOf() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: (reason: Error) => controller.abort(reason) };
}

async function collectAll<T>(signal: AbortSignal, source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of untilAborted(signal, source)) all.push(one);
  return all;
}
