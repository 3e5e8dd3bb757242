// Introspection in the background: a token in use is known before its next request, and no other one is introspected.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { TokenVerifierDependencies } from "../../../src/mcp/tokens.ts";
import { createTokenVerifier } from "../../../src/mcp/tokens.ts";

type Provider = TokenVerifierDependencies["provider"];

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A verifier of opaque tokens, and for each token how often the provider introspected it. */
function verifierAt(said: () => Promise<object>) {
  const introspections = new Map<string, number>();
  const provider: Provider = {
    issuer: () => Promise.resolve("https://id.example"),
    keys: () => Promise.reject(new Error("an opaque token needs no key")),
    introspect: (token) => {
      introspections.set(token, (introspections.get(token) ?? 0) + 1);
      return said() as ReturnType<Provider["introspect"]>;
    },
  };
  const { verify } = createTokenVerifier({ provider, audiences: [] });
  return { introspections, verify: (token: string) => verify({ token, address: "192.0.2.1" }) };
}

const active = (): Promise<object> => Promise.resolve({ active: true, sub: "ann", token_type: "Bearer" });

test("a token that is used every 10 seconds is introspected in between, and no request waits [OAU-13]", async () => {
  const { introspections, verify } = verifierAt(active);
  await verify("a");
  for (let turn = 0; turn < 5; turn++) {
    await vi.advanceTimersByTimeAsync(10_000);
    const before = introspections.get("a");
    await verify("a");
    expect(introspections.get("a")).toBe(before);
  }
});

test("a token is no longer introspected half a minute after its last use [OAU-13]", async () => {
  const { introspections, verify } = verifierAt(active);
  await verify("a");
  await vi.advanceTimersByTimeAsync(33_000);
  const last = introspections.get("a");
  expect(last).toBeGreaterThan(10);
  await vi.advanceTimersByTimeAsync(600_000);
  expect(introspections.get("a")).toBe(last);
  await verify("a");
  expect(introspections.get("a")).toBe((last ?? 0) + 1);
});

test("a revoked token is rejected within the time that an introspection is kept, and is no longer introspected [OAU-13]", async () => {
  let said = active;
  const { introspections, verify } = verifierAt(() => said());
  await verify("a");
  said = () => Promise.resolve({ active: false });
  await vi.advanceTimersByTimeAsync(3_000);
  await expect(verify("a")).rejects.toThrow(/revoked, or has expired/);
  const last = introspections.get("a");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(introspections.get("a")).toBe(last);
});

test("a provider that is unavailable gets no further request in the background", async () => {
  let said = active;
  const { introspections, verify } = verifierAt(() => said());
  await verify("a");
  said = () => Promise.reject(new Error("away"));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(introspections.get("a")).toBe(2);
});

test("a failure in the background does not renew a result: the next request introspects by itself [OAU-13]", async () => {
  let said = active;
  const { verify } = verifierAt(() => said());
  await verify("a");
  said = () => Promise.reject(new Error("away"));
  await vi.advanceTimersByTimeAsync(2_100);
  said = () => Promise.resolve({ active: false });
  await vi.advanceTimersByTimeAsync(1_000);
  await expect(verify("a")).rejects.toThrow(/revoked, or has expired/);
});

test.each([2_000, 3_600_000])("a clock that is set back by %d ms does not extend a result [OAU-13]", async (ms) => {
  let said = active;
  const { verify } = verifierAt(() => said());
  await verify("a");
  said = () => Promise.reject(new Error("away"));
  await vi.advanceTimersByTimeAsync(2_900);
  vi.setSystemTime(Date.now() - ms);
  said = () => Promise.resolve({ active: false });
  await vi.advanceTimersByTimeAsync(200);
  await expect(verify("a")).rejects.toThrow(/revoked, or has expired/);
});

test("a rejected token is introspected once, whatever the provider says of it [OAU-13]", async () => {
  const { introspections, verify } = verifierAt(() =>
    Promise.resolve({ active: true, sub: "ann", token_type: "refresh_token" }),
  );
  await expect(verify("a")).rejects.toThrow(/not an access token/);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(introspections.get("a")).toBe(1);
});

test("introspects at most a hundred tokens in the background [OAU-13]", async () => {
  const { introspections, verify } = verifierAt(active);
  for (let turn = 0; turn < 150; turn++) await verify(`token-${turn}`);
  await vi.advanceTimersByTimeAsync(2_500);
  expect([...introspections.values()].filter((times) => times === 2)).toHaveLength(100);
});
