// Seals: a sealed text opens unchanged and in time under the same key, or not at all.
import { EncryptJWT, SignJWT, UnsecuredJWT } from "jose";
import { afterEach, expect, test, vi } from "vitest";
import { createSeal, deriveKey, deriveKeys } from "../../src/sign-in/sealing.ts";

const secret = "test-session-secret-of-32-characters-or-more";
const key = deriveKey(secret, "a purpose");
const seal = createSeal([key]);

afterEach(() => void vi.useRealTimers());

test("every holder of the key can open what is sealed", async () => {
  const text = await seal.seal({ state: "s", nonce: "n" }, 60);
  expect(text).toMatch(/^[A-Za-z0-9_-]+\.\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{22}$/);
  expect(await seal.open(text)).toMatchObject({ state: "s", nonce: "n" });
  expect(await createSeal([deriveKey(secret, "a purpose")]).open(text)).toMatchObject({ state: "s" });
});

test("a seal reveals nothing, and the same content is never sealed to the same text", async () => {
  const [one, other] = [await seal.seal({ state: "s".repeat(40) }, 60), await seal.seal({ state: "s".repeat(40) }, 60)];
  expect(one).not.toBe(other);
  for (const part of one.split(".")) expect(Buffer.from(part, "base64url").toString("latin1")).not.toContain("sss");
});

test("a text with a changed letter, a missing part or another form does not open", async () => {
  const text = await seal.seal({ state: "s" }, 60);
  const parts = text.split(".");
  for (const [at, part] of parts.entries()) {
    for (const position of [0, Math.floor(part.length / 2), Math.max(0, part.length - 3)]) {
      const letter = part[position] === "A" ? "B" : "A";
      const changed = part === "" ? "AAAA" : part.slice(0, position) + letter + part.slice(position + 1);
      expect(await seal.open(parts.map((one, index) => (index === at ? changed : one)).join("."))).toBeUndefined();
    }
    expect(await seal.open(parts.filter((_, index) => index !== at).join("."))).toBeUndefined();
  }
  for (const form of ["", "x", "....", text.slice(0, -5), `${text}.`, `${text}AAAA`, "é", "\0", "null", "{}"])
    expect(await seal.open(form)).toBeUndefined();
});

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

test("tokens that the same key signs or encrypts in another way do not open", async () => {
  const claims = { state: "s", exp: Math.floor(Date.now() / 1000) + 60 };
  const long = new Uint8Array(64).fill(1);
  for (const text of [
    new UnsecuredJWT(claims).encode(),
    await new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(key),
    await new EncryptJWT(claims).setProtectedHeader({ alg: "A256KW", enc: "A256GCM" }).encrypt(key),
    await new EncryptJWT(claims).setProtectedHeader({ alg: "A256GCMKW", enc: "A256GCM" }).encrypt(key),
    await new EncryptJWT(claims).setProtectedHeader({ alg: "dir", enc: "A128CBC-HS256" }).encrypt(key),
    await new EncryptJWT(claims).setProtectedHeader({ alg: "dir", enc: "A256CBC-HS512" }).encrypt(long),
  ])
    expect(await seal.open(text)).toBeUndefined();
});

test("a newer secret opens what an older one sealed, and seals for itself alone [OPS-41]", async () => {
  const [older, newer] = [deriveKey(secret, "a purpose"), deriveKey(`${secret}, newer`, "a purpose")];
  const both = createSeal(deriveKeys([`${secret}, newer`, secret], "a purpose"));
  expect(await both.open(await createSeal([older]).seal({ state: "old" }, 60))).toMatchObject({ state: "old" });
  const text = await both.seal({ state: "new" }, 60);
  expect(await createSeal([newer]).open(text)).toMatchObject({ state: "new" });
  expect(await createSeal([older]).open(text)).toBeUndefined();
});
