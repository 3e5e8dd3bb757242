// A part that is loaded on its first use: once, and again only after a failure.
import { expect, test } from "vitest";
import { loadOnce } from "../../src/call/load-once.ts";

test("loads once for all callers, and again after a failure", async () => {
  let loads = 0;
  const part = loadOnce(() =>
    ++loads === 1 ? Promise.reject(new Error("no file")) : Promise.resolve(`load ${loads}`),
  );
  expect(part.begun()).toBeUndefined();
  const first = [part.get(), part.get()];
  expect(part.begun()).toBe(first[0]);
  for (const one of await Promise.allSettled(first)) expect(one.status).toBe("rejected");
  expect(part.begun()).toBeUndefined();
  expect(await Promise.all([part.get(), part.get()])).toEqual(["load 2", "load 2"]);
  expect(await part.begun()).toBe("load 2");
});
