// While the provider does not respond, one request waits for an introspection, and the following ones do not.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createIntrospector } from "../../src/sign-in/introspector.ts";

/** Responds to requests only while `isResponding`. */
let isResponding: boolean;
let introspector: ReturnType<typeof createIntrospector>;
const active = { active: true as const };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  isResponding = true;
  introspector = createIntrospector({
    introspect: () =>
      isResponding
        ? Promise.resolve(active)
        : new Promise((_resolve, reject) => setTimeout(() => reject(new Error("no response")), 4_000)),
  });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Whether a promise is settled once this many milliseconds have passed. */
async function settlesIn(ms: number, result: Promise<unknown>): Promise<boolean> {
  let isSettled = false;
  void result.finally(() => (isSettled = true));
  await vi.advanceTimersByTimeAsync(ms);
  return isSettled;
}

test("a signed token waits once for a provider that hangs, and other tokens do not wait until it is tried again [OAU-14]", async () => {
  isResponding = false;
  const first = introspector.introspectSoon("a", "a");
  expect([await settlesIn(1_400, first), await settlesIn(200, first)]).toEqual([false, true]);
  for (let second = 0; second < 20; second++) {
    const name = String(second);
    for (const look of [introspector.introspectSoon, introspector.introspectFirst, introspector.introspect])
      expect(await settlesIn(1, look(name, name))).toBe(true);
    await vi.advanceTimersByTimeAsync(1_000);
  }
  // Nothing was sent for some seconds, so that the provider may respond again.
  await vi.advanceTimersByTimeAsync(12_000);
  const later = introspector.introspectSoon("z", "z");
  expect([await settlesIn(1_400, later), await settlesIn(200, later)]).toEqual([false, true]);
});

test("a token in use waits once for a provider that hangs for a minute [OAU-14]", async () => {
  isResponding = false;
  let waits = 0;
  for (let request = 0; request < 120; request++) {
    const result = introspector.introspectSoon("a", "a");
    if (!(await settlesIn(1, result))) waits++;
    await vi.advanceTimersByTimeAsync(499);
    await settlesIn(1_500, result);
  }
  expect(waits).toBe(1);
});

test("a provider that responds again is waited for at once, and its response counts [OAU-13]", async () => {
  isResponding = false;
  await settlesIn(1_600, introspector.introspectSoon("a", "a"));
  isResponding = true;
  expect(await introspector.introspect("b", "b")).toMatchObject({ claims: active });
  isResponding = false;
  expect(await settlesIn(1_400, introspector.introspectSoon("c", "c"))).toBe(false);
});

test("a token that only the provider can read keeps its last claims while the provider hangs, and a new one has none [OAU-14]", async () => {
  expect(await introspector.introspect("known", "known")).toMatchObject({ claims: active });
  isResponding = false;
  await vi.advanceTimersByTimeAsync(5_000);
  await settlesIn(1_600, introspector.introspectSoon("a", "a"));
  expect(await settlesIn(1, introspector.introspect("known", "known"))).toBe(true);
  const [known, unknown] = [introspector.introspect("known", "known"), introspector.introspect("new", "new")];
  await vi.advanceTimersByTimeAsync(1);
  expect([(await known).claims, (await unknown).claims]).toEqual([active, undefined]);
});
