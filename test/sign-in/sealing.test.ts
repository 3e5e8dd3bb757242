import { afterEach, expect, test, vi } from "vitest";
import { createSeal, deriveKey, deriveKeys } from "../../src/sign-in/sealing.ts";

const secret = "test-session-secret-of-32-characters-or-more";
const key = deriveKey(secret, "a purpose");
const seal = createSeal([key]);

afterEach(() => void vi.useRealTimers());

test("a sealed text opens until it expires, and not afterwards", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-01-01T00:00:00Z") });
  const text = await seal.seal({ state: "s" }, 600);
  vi.setSystemTime(new Date("2026-01-01T00:09:59Z"));
  expect(await seal.open(text)).toMatchObject({ state: "s" });
  for (const late of ["2026-01-01T00:10:01Z", "2026-01-02T00:00:00Z"]) {
    vi.setSystemTime(new Date(late));
    expect(await seal.open(text)).toBeUndefined();
  }
});

test("a sealed text does not open under another secret, purpose or salt", async () => {
  const text = await seal.seal({ state: "s" }, 60);
  for (const other of [
    deriveKey(`${secret}x`, "a purpose"),
    deriveKey(secret, "another purpose"),
    deriveKey(secret, "a purpose", "salt"),
    deriveKey(secret, ""),
  ]) {
    expect(Buffer.from(other).equals(Buffer.from(key))).toBe(false);
    expect(await createSeal([other]).open(text)).toBeUndefined();
  }
  expect([
    key.length,
    Buffer.from(deriveKey(secret, "a purpose", "x")).equals(Buffer.from(deriveKey(secret, "a purpose", "y"))),
  ]).toEqual([32, false]);
});

test("a newer secret opens what an older one sealed, and seals for itself alone [OPS-41]", async () => {
  const [older, newer] = [deriveKey(secret, "a purpose"), deriveKey(`${secret}, newer`, "a purpose")];
  const both = createSeal(deriveKeys([`${secret}, newer`, secret], "a purpose"));
  expect(await both.open(await createSeal([older]).seal({ state: "old" }, 60))).toMatchObject({ state: "old" });
  const text = await both.seal({ state: "new" }, 60);
  expect(await createSeal([newer]).open(text)).toMatchObject({ state: "new" });
  expect(await createSeal([older]).open(text)).toBeUndefined();
});
